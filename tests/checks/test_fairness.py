from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from tests.checks.curve_worlds import results_of, rise

from tunewright.actions import Advise, NextRound, RunTrials
from tunewright.checks.fairness import AtEnd, SettingTuned, fairness
from tunewright.design.conditions import given
from tunewright.design.names import Meaning
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.store.joined import joined
from tunewright.store.judge import not_finite
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

RATE = {"learning_rate": log(1e-4, 1e-1)}


def made(optimum: float = 0.5, **changes: Any) -> Results:
    settings: dict[str, Any] = {
        "goal": "?",
        "scientific": {"act": ["a", "b"]},
        "nuisance": RATE,
        "trials_per_study": 16,
        **changes,
    }
    world = World(Bowl({"learning_rate": optimum}), effect=lambda s: 0.1 * s.number)
    return results(Round("r", **settings), world)


def only(found: Results) -> Finding:
    (finding,) = fairness(found)
    return finding


def test_equal_settings_are_fair() -> None:
    finding = only(made())
    assert (finding.verdict, finding.actions) == ("ok", ())
    assert finding.evidence.settings == (
        SettingTuned("act=a", trials=16, feasible=16, searched=1),
        SettingTuned("act=b", trials=16, feasible=16, searched=1),
    )


def test_one_setting_has_no_rival() -> None:
    assert fairness(made(scientific={})) == []


def test_unequal_budgets() -> None:
    found = made()
    kept = [t for t in found.recorded if t.study == 0 or (t.index or 0) < 8]
    finding = only(replace(found, recorded=tuple(kept)))
    assert finding.verdict == "warn"
    uneven = finding.evidence.budgets
    assert (uneven.most.setting, uneven.most.trials) == ("act=a", 16)
    assert (uneven.least.setting, uneven.least.trials) == ("act=b", 8)
    assert finding.actions == (Advise("tune_equally"), NextRound("r"))


def test_one_setting_left_with_few_feasible_trials() -> None:
    found = made()
    lost = [
        replace(t, status="infeasible", reason=not_finite("loss", math.nan, 1))
        if t.study == 1 and (t.index or 0) % 4
        else t
        for t in found.recorded
    ]
    finding = only(replace(found, recorded=tuple(lost)))
    assert finding.verdict == "warn"
    (uneven,) = finding.evidence.feasible
    assert (uneven.least.setting, uneven.least.feasible) == ("act=b", 4)
    assert (uneven.most.setting, uneven.most.feasible) == ("act=a", 16)


def test_a_rival_at_the_end_of_its_range_is_noted() -> None:
    inside, outside = made(0.5), made(1.2)
    mixed = [
        i if i.study == 0 else o for i, o in zip(inside.recorded, outside.recorded, strict=True)
    ]
    finding = only(replace(inside, recorded=tuple(mixed)))
    assert finding.verdict == "note"
    assert finding.evidence.ends == (AtEnd("act=b", "learning_rate", "high"),)
    assert finding.evidence.best == "act=a"


def test_spaces_of_very_different_size_are_noted() -> None:
    many = {name: linear(0, 1) for name in ("c", "d", "e")}
    finding = only(made(nuisance={**RATE, "act": given({"a": many, "b": {}})}))
    assert finding.verdict == "note"
    spaces = finding.evidence.spaces
    assert (spaces.most.setting, spaces.most.searched) == ("act=a", 4)
    assert (spaces.least.setting, spaces.least.searched) == ("act=b", 1)


def test_nothing_completed() -> None:
    found = made()
    pending = [replace(t, status="pending") for t in found.recorded]
    finding = only(replace(found, recorded=tuple(pending)))
    assert finding.verdict == "cannot_judge"
    assert finding.evidence.why.code == "fairness.one_setting"
    assert finding.actions == (RunTrials("r"),)


def test_settings_that_train_longer_are_not_compared_as_equals() -> None:
    lengths = {"scientific": {"act": ["a", "b"], "max_train_steps": [50, 200]}}
    finding = only(made(**lengths))
    assert finding.verdict == "warn"
    seen = finding.evidence.lengths
    assert (seen.name, seen.most, seen.fewest) == ("max_train_steps", 200, 50)
    assert finding.actions[0] == Advise("train_as_long")
    assert only(made(fixed={"max_train_steps": 50})).verdict == "ok"


def test_a_length_under_another_name_is_one_too() -> None:
    found = made(scientific={"epochs": [5, 20]})
    assert only(found).evidence.lengths is None
    meant = replace(found, meaning=Meaning({"max_train_steps": "epochs"}))
    assert only(meant).evidence.lengths.name == "epochs"


def test_a_length_that_suits_one_setting_only_is_noted() -> None:
    """The best of one setting lie at the end of training, those of the other early in it."""
    levels = 0.01 * np.arange(12)[:, None]
    curves = np.tile(np.linspace(1.0, 0.2, 50), (12, 1)) + levels
    falls = {"valid_error": curves}
    turning = curves.copy()
    turning[1::2] = rise(50, 0.3, 0.2) + levels[1::2]
    settings = [{"layers": 1 + n % 2} for n in range(12)]
    more = {"configurations": settings, "scientific": {"layers": [1, 2]}}
    (found,) = fairness(results_of({"valid_error": turning}, **more))
    seen = found.evidence.needs
    assert (found.verdict, seen.longer, seen.shorter) == ("note", "layers=1", "layers=2")
    assert min(seen.late_steps) > 0.75 * seen.max_train_steps > max(seen.early_steps)
    assert Advise("length_again") in found.actions
    (alike,) = fairness(results_of(falls, **more))
    assert (alike.verdict, alike.evidence.needs) == ("ok", None)


def at_batch_size(size: int, name: str = "later", **changes: Any) -> Results:
    """A round without settings to compare."""
    fixed = {"batch_size": size, **changes.pop("fixed", {})}
    settings = {"nuisance": RATE, "trials_per_study": 8, "fixed": fixed, **changes}
    return results(Round(name, goal="?", **settings), Bowl({}))


def test_values_tuned_for_another_batch_size() -> None:
    first = at_batch_size(32, "first")
    frozen = {"nuisance": {"momentum": linear(0.8, 0.99)}, "fixed": {"learning_rate": 0.01}}
    finding = only(joined(at_batch_size(512, continues="first", **frozen), first))
    kept = finding.evidence.kept
    assert (finding.verdict, finding.about) == ("note", "later")
    assert (kept.before, kept.now, kept.optimizer) == (32, 512, ("learning_rate",))
    facts = {"optimizer": ["learning_rate"], "regularisers": []}
    assert finding.actions == (Advise("tune_again", facts),)
    assert fairness(joined(at_batch_size(32, continues="first", **frozen), first)) == []
    assert fairness(joined(at_batch_size(512, continues="first"), first)) == []


def test_settings_that_all_keep_values_of_another_batch_size() -> None:
    later = at_batch_size(
        512,
        scientific={"act": ["a", "b"]},
        nuisance={"momentum": linear(0.8, 0.99)},
        fixed={"learning_rate": 0.01},
        continues="first",
    )
    finding = only(joined(later, at_batch_size(32, "first")))
    assert finding.verdict == "note" and finding.evidence.kept.earlier == "first"
    assert any(isinstance(a, Advise) and a.code == "tune_again" for a in finding.actions)
