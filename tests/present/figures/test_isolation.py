from __future__ import annotations

from dataclasses import replace

import pytest
from tests.present.figures.known_rounds import depth, facts_of, one_study

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures.isolation import isolation, isolation_data
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results


def test_arms_show_the_best_of_each_value_and_how_it_compares() -> None:
    made = depth()
    data = isolation_data(made)
    assert [arm.value for arm in data.arms] == [1, 2, 3]
    for arm in data.arms:
        assert arm.best == made.best(hidden_layers=arm.value).value
        assert arm.trial == made.best(hidden_layers=arm.value).number
        assert arm.infeasible + len(arm.values) == arm.trials == 16
    assert data.arms[0].verdict == "worse"
    assert sorted(arm.verdict for arm in data.arms[1:]) == ["best", "no clear gap"]
    assert [arm.off for arm in data.arms] == [True, False, False]
    worse = data.arms[0].beside
    assert worse is not None and worse.code == "figure.isolation.worse"
    assert worse.facts["gap"] == pytest.approx(0.1, abs=0.02)


def test_budgets_are_made_equal() -> None:
    made = depth()
    fewer = [t for t in made.recorded if t.study != 2 or (t.index or 0) < 10]
    data = isolation_data(Results.from_parts(made.round, made.objective, fewer))
    assert [arm.trials for arm in data.arms] == [10, 10, 10]
    assert data.left_out == 12


def test_the_noise_of_tuning_lies_on_the_worse_side_of_the_best() -> None:
    for arm in isolation_data(depth()).arms:
        assert arm.noise is not None and arm.best is not None
        assert arm.best <= arm.noise[0] <= arm.noise[1] <= max(arm.values)


def test_noise_is_turned_with_the_objective() -> None:
    made = depth(objective=tw.maximize("accuracy"))
    for arm in isolation_data(made).arms:
        assert arm.noise is not None and arm.best is not None
        assert min(arm.values) <= arm.noise[0] <= arm.noise[1] <= arm.best == max(arm.values)


def test_trial_sd_comes_from_repeats_alone() -> None:
    assert all(arm.trial_sd is None for arm in isolation_data(depth()).arms)
    found = [arm.trial_sd for arm in isolation_data(depth(repeats=5)).arms]
    assert all(sd is not None and 0 < sd < 0.02 for sd in found)


def test_an_arm_without_a_completed_trial_is_still_shown() -> None:
    made = depth()
    broken = [
        replace(t, status="infeasible", reason=Message("trial.infeasible", {"text": "too large"}))
        if t.study == 2
        else t
        for t in made.recorded
    ]
    data = isolation_data(Results.from_parts(made.round, made.objective, broken))
    assert data.arms[2].best is None
    assert data.arms[2].infeasible == 16
    figure = isolation(Results.from_parts(made.round, made.objective, broken))
    said = [m.facts for m in figure.caption if m.code == "figure.isolation.arm"]
    assert [facts["best"] is None for facts in said] == [False, False, True]


def dropout(trials: int, optimum: Bowl) -> Results:
    round = tw.Round(
        "dropout",
        goal="?",
        scientific={"dropout": tw.linear(0.0, 0.6)},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=trials,
    )
    return results(round, World(optimum, noise_sd=0.01))


def test_a_range_is_cut_into_buckets() -> None:
    data = isolation_data(dropout(96, Bowl({"dropout": 1.0})))
    assert data.buckets is not None
    bests = [bucket.best for bucket in data.buckets.buckets]
    assert len(bests) == 10
    assert bests[0] > bests[5] > bests[9]
    assert data.buckets.p is not None and data.buckets.p <= 0.05
    assert sum(bucket.trials for bucket in data.buckets.buckets) == 96


def test_no_trend_is_called_where_there_is_none_or_too_little() -> None:
    flat = isolation(dropout(96, Bowl({"learning_rate": 0.5})))
    assert facts_of(flat, "figure.isolation.trend")["p"] > 0.05
    few = isolation(dropout(16, Bowl({"dropout": 1.0})))
    assert few.data.buckets is not None and few.data.buckets.buckets == ()
    trend = {"trials": 16, "buckets": 0, "p": None}
    assert facts_of(few, "figure.isolation.trend") == trend


def test_what_is_not_scientific_cannot_be_isolated() -> None:
    with pytest.raises(NotFound, match=r"'beta1' is not scientific.*hidden_layers"):
        isolation(depth(), "beta1")
    with pytest.raises(NotFound, match="no scientific hyperparameter"):
        isolation(one_study([{"valid_error": [0.5]}]))


def test_noise_is_not_claimed_for_an_adaptive_search() -> None:
    made = depth()
    adaptive = tuple(replace(t, search="bayesian") for t in made.recorded)
    assert all(arm.noise is None for arm in isolation_data(replace(made, recorded=adaptive)).arms)
