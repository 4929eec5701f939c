"""Steps to a goal: when a study's answer counts, and when it does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tunewright as tw
from tunewright.design.objective import maximize, minimize
from tunewright.probes.critical_batch import first_reached, goal_of, size_point
from tunewright.search.halton import Halton
from tunewright.store.curves import Batch, Curve, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial


def study(slowness, trials=20, every=1, length=1000, high=1.0, objective=None) -> Results:
    """A study whose trials fall as exp(-step / slowness(learning rate)); None: infeasible."""
    round = tw.Round(
        "size",
        goal="?",
        nuisance={"learning_rate": tw.log(1e-4, high)},
        trials_per_study=trials,
    )
    own = round.studies[0]
    steps = np.arange(every, length + 1, every)
    made = []
    objective = objective or minimize("valid_error")
    for index, one in enumerate(Halton().suggest(own, (), trials)):
        slow = slowness(one.configuration["learning_rate"])
        falls = np.full(len(steps), math.nan) if slow is None else np.exp(-steps / slow)
        values = falls if objective.minimize else 1 - falls
        made.append(
            Trial(
                number=index,
                study=0,
                index=index,
                configuration=dict(one.configuration),
                unit=dict(one.unit),
                status="infeasible" if slow is None else "completed",
                curves=Curves([Batch(1, 0, pack({objective.metric: (steps, values)}))]),
            )
        )
    return Results.from_parts(round, objective, made)


def bowl(best: float):
    """Slowest far from the best learning rate."""
    return lambda rate: 50 * math.exp((math.log10(rate / best)) ** 2)


def test_the_goal_is_reached_by_a_fifth_and_by_three_at_least():
    for trials, reach in ((20, 4), (30, 6), (10, 3)):
        made = study(bowl(0.01), trials)
        goal = goal_of(made)
        assert sum(t.value <= goal for t in made.trials) == reach
    best = goal_of(study(bowl(0.01), 20, objective=maximize("accuracy")))
    assert 0.9 < best < 1
    assert goal_of(study(lambda rate: None)) is None


def test_a_good_study_counts_with_the_fewest_steps():
    made = study(bowl(0.01), 24)
    point, luck = size_point(made, 64, 0.05)
    fastest = min(bowl(0.01)(t.configuration["learning_rate"]) for t in made.trials)
    assert point.valid and point.caveats == ()
    assert point.steps == pytest.approx(-math.log(0.05) * fastest, rel=0.02)
    assert point.low <= point.steps * 1.001 <= point.high * 1.001
    assert luck.low == point.low and point.reached >= 3 and point.trials == 24


def test_an_accuracy_counts_alike():
    low, _ = size_point(study(bowl(0.01), 24), 64, 0.05)
    high, _ = size_point(study(bowl(0.01), 24, objective=maximize("accuracy")), 64, 0.95)
    assert high.steps == pytest.approx(low.steps)


@pytest.mark.parametrize(
    "made, code, facts",
    [
        (study(bowl(10.0), 24), "at_edge", {"side": "high", "column": "learning_rate"}),
        (study(bowl(0.01), 24, length=140), "few_reach", {"needed": 3}),
        (
            study(lambda r: bowl(0.01)(r) if 0.001 < r < 0.2 else None, 10),
            "few_for_edges",
            {},
        ),
        (study(bowl(0.01), 24, every=50), "coarse", {"spacing": 50, "counts": False}),
    ],
)
def test_a_study_that_cannot_be_trusted_says_why(made, code, facts):
    point, _ = size_point(made, 64, 0.05)
    assert not point.valid
    found = [one.facts for one in point.problems if one.code == f"probe.critical_batch.{code}"]
    assert found and facts.items() <= found[0].items(), point.problems


def test_evaluations_a_little_too_far_apart_are_a_caveat():
    point, _ = size_point(study(bowl(0.01), 24, every=8), 64, 0.05)
    assert point.valid and point.caveats[0].facts["spacing"] == 8


def test_the_edge_is_judged_by_the_steps_not_by_the_value():
    """Trials that end lowest at one end, but are fastest inside, are no reason to widen it."""
    made = study(bowl(0.01), 24)
    steps = np.arange(1, 1001)

    def curve(trial):
        rate = trial.configuration["learning_rate"]
        end = 0.04 * (1 - (math.log10(rate) + 4) / 8)  # the larger the rate, the lower in the end
        values = end + np.exp(-steps / bowl(0.01)(rate))
        return replace(trial, curves=Curves([Batch(1, 0, pack({"valid_error": (steps, values)}))]))

    bent = replace(made, recorded=tuple(curve(t) for t in made.recorded))
    point, _ = size_point(bent, 64, 0.1)
    assert point.valid, point.problems


@settings(max_examples=60, deadline=None)
@given(slow=st.floats(5, 80), every=st.integers(1, 9), goal=st.floats(0.01, 0.9))
def test_the_step_is_between_the_evaluations(slow, every, goal):
    steps = every * np.arange(1, 500 // every)
    found = first_reached(Curve(steps, np.exp(-steps / slow)), goal, minimize=True)
    exact = -math.log(goal) * slow
    if found is None:
        assert exact > steps[-1]
        return
    step, spacing = found
    assert spacing == every and abs(step - max(exact, every)) <= every
