from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tunewright.checks.fairness import fairness
from tunewright.design.conditions import given
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.finding import Finding
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
    assert (finding.verdict, finding.says) == (
        "ok",
        "2 settings had 16 trials each in spaces of the same size",
    )


def test_one_setting_has_no_rival() -> None:
    assert fairness(made(scientific={})) == []


def test_unequal_budgets() -> None:
    found = made()
    kept = [t for t in found.recorded if t.study == 0 or (t.index or 0) < 8]
    finding = only(replace(found, recorded=tuple(kept)))
    assert finding.verdict == "warn"
    assert "act=a had 16 trials, act=b only 8" in finding.says


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
    assert "act=b has 4 feasible of 16 trials, act=a 16 of 16" in finding.says


def test_a_rival_at_the_end_of_its_range_is_noted() -> None:
    inside, outside = made(0.5), made(1.2)
    mixed = [
        i if i.study == 0 else o for i, o in zip(inside.recorded, outside.recorded, strict=True)
    ]
    finding = only(replace(inside, recorded=tuple(mixed)))
    assert finding.verdict == "note"
    assert "act=b is best at the high end of learning_rate, act=a is not" in finding.says


def test_spaces_of_very_different_size_are_noted() -> None:
    many = {name: linear(0, 1) for name in ("c", "d", "e")}
    finding = only(made(nuisance={**RATE, "act": given({"a": many, "b": {}})}))
    assert finding.verdict == "note"
    assert "act=a searches 4 hyperparameters and act=b 1" in finding.says


def test_nothing_completed() -> None:
    found = made()
    pending = [replace(t, status="pending") for t in found.recorded]
    assert only(replace(found, recorded=tuple(pending))).verdict == "cannot_judge"
