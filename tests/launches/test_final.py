"""The last look: counted, warned about when repeated; folding only when nothing follows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.launches.final import final_check, fold
from tunewright.messages import Message
from tunewright.store.launches import Evaluation
from tunewright.testing import Bowl, results

ROUND = Round(
    "rates",
    goal="Which rate?",
    nuisance={"learning_rate": log(1e-4, 1.0)},
    fixed={"train_on_validation": False, "max_train_steps": 100},
    trials_per_study=4,
    seed=7,
)


def look(n: int, trial: int = 3, workload: str = "train.train") -> Evaluation:
    return Evaluation(
        trial,
        trial,
        480,
        {"test_error": 0.031 + n / 1000},
        "train.test",
        workload,
        "valid_error",
        0.028,
        n,
        datetime(2026, 5, n or 1, tzinfo=UTC),
    )


def test_the_first_look_is_reported_beside_what_validation_promised():
    verdict = final_check(look(1), [look(0), look(1), look(1, workload="other")])
    assert not verdict.warns
    assert verdict.measured.facts == {
        "metrics": {"test_error": 0.032},
        "trial": 3,
        "step": 480,
        "objective": "valid_error",
        "value": 0.028,
    }
    assert verdict.advice.code == "final.first_look"
    assert len(verdict.headline.split()) <= 12


def test_a_second_look_is_warned_about_with_the_date_of_the_first():
    verdict = final_check(look(2, trial=5), [look(1), look(2, trial=5)])
    assert verdict.warns
    before = {"times": 1, "days": ["2026-05-01"], "other": True}
    assert verdict.advice == Message("final.looked_before", before)
    assert verdict.to_data()["looks_before"] == 1
    assert len(verdict.headline.split()) <= 12
    third = final_check(look(3, trial=5), [look(1), look(2), look(3, trial=5)])
    assert third.advice.facts["times"] == 2


def test_the_same_checkpoint_again_is_told_apart():
    verdict = final_check(look(2), [look(1), look(2)])
    assert verdict.warns
    assert verdict.advice.facts["other"] is False


def test_looks_of_other_workloads_do_not_count():
    assert not final_check(look(1), [look(1, workload="other")]).warns


def test_what_did_not_look_is_no_final_check():
    with pytest.raises(DesignError, match="test=True"):
        final_check(look(0), [])


def test_folding_is_refused_while_a_launch_may_follow():
    found = results(ROUND, Bowl({"learning_rate": 0.5}))
    with pytest.raises(DesignError, match="--no-later-launch"):
        fold(found, found.best(), {"train_on_validation": True})


def test_the_last_round_fixes_everything_and_throws_the_switch():
    found = results(ROUND, Bowl({"learning_rate": 0.5}))
    last = fold(found, found.best(), {"train_on_validation": True}, no_later_launch=True)
    assert last.name == "rates_final"
    assert last.trials == 1
    assert last.seed == 7
    assert dict(last.fixed) == {**found.best().configuration, "train_on_validation": True}
    assert last.goal == Message("goal.final", {"round": "rates", "trial": found.best().number})


@pytest.mark.parametrize(
    ("switch", "says"),
    [
        ({"train_on_validaton": True}, "Did you mean 'train_on_validation'"),
        ({"fold": True}, "Give the training program an argument fold=False"),
        ({"train_on_validation": False}, "should not have been chosen"),
        ({}, "name the hyperparameter"),
    ],
)
def test_a_switch_that_cannot_be_thrown(switch, says):
    found = results(ROUND, Bowl({"learning_rate": 0.5}))
    with pytest.raises(DesignError, match=says):
        fold(found, found.best(), switch, no_later_launch=True)
