from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tunewright.checks.boundary import boundary
from tunewright.checks.comparison import pairs
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.store.joined import fitting, joined, overlap, with_earlier
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.testing import Bowl, World, results

RATE = {"learning_rate": log(1e-4, 1e-1)}


def asked(name: str = "first", **changes: Any) -> Round:
    given_: dict[str, Any] = {
        "goal": "?",
        "nuisance": RATE,
        "fixed": {"max_train_steps": 1000},
        "trials_per_study": 16,
        **changes,
    }
    return Round(name, **given_)


def ran(round: Round) -> Results:
    return results(round, World(Bowl({"learning_rate": 0.5}), noise_sd=0.01, seed=round.seed))


def test_a_wider_round_keeps_every_trial() -> None:
    old = ran(asked())
    new = ran(asked("second", nuisance={"learning_rate": log(1e-4, 1.0)}, trials_per_study=21))
    both = joined(new, old)
    assert len(both.trials) == 21 + 16
    assert both.round == new.round
    assert [t.number for t in both.trials] == sorted({t.number for t in both.trials})
    kept = [t for t in both.trials if t.origin is not None]
    assert [t.origin for t in kept] == [("first", n) for n in range(16)]
    for trial in kept:
        assert trial.value == old.trial(trial.origin[1]).value
        wide = new.studies[0].configuration(trial.unit)
        assert wide["learning_rate"] == pytest.approx(trial.configuration["learning_rate"])
    note = both.notes[-1]
    assert (note.code, note.facts["trials"], note.facts["ended"]) == ("note.joined", 16, 16)
    # 16 more in three of four decades, where 21 are spread over four
    assert note.facts["times_as_dense"] == pytest.approx(2.0, abs=0.05)
    assert not note.facts["seed_differs"]
    other = joined(replace(new, round=replace(new.round, seed=5)), old).notes[-1]
    assert other.facts["seed_differs"]


def test_a_narrower_round_keeps_what_lies_inside() -> None:
    old = ran(asked())
    narrow = {"learning_rate": log(1e-3, 1e-2)}
    both = joined(ran(asked("second", nuisance=narrow, seed=1)), old)
    kept = [t for t in both.trials if t.origin is not None]
    assert 4 <= len(kept) <= 6
    assert all(1e-3 <= t.configuration["learning_rate"] <= 1e-2 for t in kept)
    left_out = [t for t in old.trials if t.number not in {k.origin[1] for k in kept if k.origin}]
    assert all(not 1e-3 <= t.configuration["learning_rate"] <= 1e-2 for t in left_out)


@pytest.mark.parametrize(
    "changes",
    [
        {"fixed": {"max_train_steps": 2000}},
        {"fixed": {"max_train_steps": 1000, "dropout": 0.0}},
        {"fixed": {}},
        {"nuisance": {**RATE, "beta1": log(0.1, 0.9)}},
        {"scientific": {"layers": [1, 2]}},
    ],
)
def test_what_the_round_could_not_have_run_does_not_count(changes: dict[str, Any]) -> None:
    new = ran(asked("second", **changes))
    assert joined(new, ran(asked())) == new


def test_settings_stay_apart_and_share_their_points() -> None:
    arms = {"scientific": {"layers": [1, 2, 3]}}
    old = ran(asked(**arms))
    both = joined(ran(asked("second", scientific={"layers": [2, 3]}, seed=1)), old)
    for study in both.studies:
        kept = [t for t in both.of(study) if t.origin is not None]
        assert len(kept) == 16
        assert {t.configuration["layers"] for t in kept} == {study.scientific["layers"]}
    # so that the comparison is one on shared points, old ones included
    (pair,) = pairs(both)
    assert pair.halves is not None and pair.halves.shared and pair.halves.trials == 32


def test_a_list_that_is_no_longer_asked_about_is_searched() -> None:
    old = ran(asked(scientific={"layers": [1, 2]}))
    new = ran(asked("second", nuisance={"layers": [1, 2], **RATE}))
    both = joined(new, old)
    kept = [t for t in both.trials if t.origin is not None]
    assert len(kept) == 32
    assert len({t.number for t in both.trials}) == 48


def test_repeats_come_along_and_the_trial_variance_is_known() -> None:
    world = World(Bowl({"learning_rate": 0.5}), noise_sd=0.01)
    old = results(asked(), world, repeats={3: 5})
    both = joined(ran(asked("second", nuisance={"learning_rate": log(1e-4, 1.0)})), old)
    parent = next(t for t in both.trials if t.origin == ("first", 3))
    assert len(both.repeats(parent)) == 5


def test_joining_twice_counts_once() -> None:
    old = ran(asked())
    new = ran(asked("second", nuisance={"learning_rate": log(1e-4, 1.0)}))
    once = joined(new, old)
    assert joined(once, old).recorded == once.recorded
    third = ran(asked("third", nuisance={"learning_rate": log(1e-5, 1.0)}, seed=2))
    assert len(joined(third, once, old).trials) == 16 + 32


def test_failed_and_pending_trials_stay_where_they_are() -> None:
    old = ran(asked())
    broken = tuple(replace(t, status="failed") if t.number == 2 else t for t in old.recorded)
    new = ran(asked("second", nuisance={"learning_rate": log(1e-4, 1.0)}))
    assert len(joined(new, replace(old, recorded=broken)).trials) == 16 + 15


def test_the_boundary_is_judged_on_all_of_them() -> None:
    """Eight trials in the widened range cannot say what eight and sixteen can."""
    outside = World(Bowl({"learning_rate": 0.9}), noise_sd=0.005)
    old = results(asked(), outside)
    wide = asked("second", nuisance={"learning_rate": log(1e-4, 1.0)}, trials_per_study=7)
    alone = results(wide, World(Bowl({"learning_rate": 0.675}), noise_sd=0.005, seed=1))
    assert boundary(alone)[0].verdict == "cannot_judge"
    assert boundary(joined(alone, old))[0].verdict == "ok"


def test_what_is_no_result_is_refused() -> None:
    with pytest.raises(DesignError, match="give the Results of earlier rounds"):
        joined(ran(asked()), "first")  # type: ignore[arg-type]


def test_the_store_follows_what_rounds_continue(tmp_path: Path) -> None:
    one = ran(asked("one"))
    two = ran(asked("two", continues="one", nuisance={"learning_rate": log(1e-4, 1.0)}))
    three = ran(asked("three", continues="two", nuisance={"learning_rate": log(1e-5, 1.0)}))
    lost = ran(asked("lost", continues="gone"))
    with Store.open(tmp_path / "tuning.db") as store:
        for made in (one, two, three, lost):
            store.keep(made)
        assert store.results("two").round.continues == "one"
        assert len(with_earlier(store, "three").trials) == 48
        assert len(with_earlier(store, "two").trials) == 32
        assert len(with_earlier(store, "one").trials) == 16
        assert len(with_earlier(store, "lost").trials) == 16


def test_the_overlap_of_spaces() -> None:
    wide, narrow = asked(nuisance={"learning_rate": log(1e-4, 1.0)}), asked()
    assert overlap(narrow.studies[0], wide.studies[0]) == pytest.approx(0.75)
    assert overlap(wide.studies[0], narrow.studies[0]) == 1.0


@settings(max_examples=40, deadline=None)
@given(
    low=st.floats(-6, -2), high=st.floats(-2, 2), trials=st.integers(1, 12), seed=st.integers(0, 9)
)
def test_joined_trials_fit_and_none_is_lost(
    low: float, high: float, trials: int, seed: int
) -> None:
    nuisance = {"learning_rate": log(10**low, 10**high + 1e-9)}
    new = ran(asked("second", nuisance=nuisance, trials_per_study=trials, seed=seed))
    old = ran(asked(trials_per_study=9))
    both = joined(new, old)
    study = new.studies[0]
    inside = [t for t in old.trials if fitting(study, t.configuration) is not None]
    assert len(both.trials) == trials + len(inside)
    assert len({t.number for t in both.trials}) == len(both.trials)
    assert all(0 <= t.unit["learning_rate"] <= 1 for t in both.trials)
    assert both.objective == minimize("valid_error")
