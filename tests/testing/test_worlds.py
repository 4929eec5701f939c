from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tunewright.design.names import Meaning
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.search.listed import Listed
from tunewright.store.judge import not_finite
from tunewright.testing import Bowl, Walled, World, results

DEPTH = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1), "beta1": linear(0.8, 0.99)},
    trials_per_study=16,
)
BOWL = Bowl({"learning_rate": 0.6})


def test_values_are_those_of_the_surface() -> None:
    found = results(DEPTH, World(BOWL, effect=lambda study: 0.05 * study.number))
    assert [trial.number for trial in found.trials] == list(range(32))
    for trial in found.trials:
        assert trial.value == pytest.approx(BOWL(trial.unit) + 0.05 * trial.study)
        assert trial.best_step == 1000
        assert trial.configuration["layers"] == trial.study + 1
    assert found.best().study == 0
    assert found.best(layers=2).value == pytest.approx(found.best(layers=1).value + 0.05)


def test_walls_make_infeasible_trials_with_a_reason() -> None:
    found = results(DEPTH, Walled(BOWL, {"learning_rate": 1.0}, above=0.75))
    bad = [trial for trial in found.trials if trial.status == "infeasible"]
    assert {t.number for t in bad} == {
        t.number for t in found.trials if t.unit["learning_rate"] > 0.75
    }
    assert 6 <= len(bad) <= 10
    for trial in bad:
        assert trial.value is None and trial.reason == not_finite("train_loss", math.nan, 550)
        assert np.isnan(trial.curves["train_loss"].values[-1])
        assert trial.curves["valid_error"].steps[-1] == 500


def test_noise_repeats_and_reproduction() -> None:
    world = World(BOWL, noise_sd=0.1, curve_sd=0.01, correlation=0.5)
    found = results(DEPTH, world, repeats={3: 200})
    same = results(DEPTH, world, repeats={3: 200})
    assert [t.value for t in found.trials] == [t.value for t in same.trials]
    again = [t.value for t in found.repeats(3)]
    assert len(again) == 200 and len({t.seed for t in found.repeats(3)}) == 200
    # the best of twenty noisy evaluations is a little below the end of the curve
    assert np.mean(again) == pytest.approx(BOWL(found.trial(3).unit), abs=0.04)
    assert np.std(again) == pytest.approx(0.1, rel=0.2)
    assert len(found.trials) == 32
    other = results(DEPTH, dataclasses.replace(world, seed=1))
    assert [t.value for t in other.trials] != [t.value for t in found.trials]


def test_more_trials_leave_the_first_as_they_were() -> None:
    world = World(BOWL, noise_sd=0.1)
    more = dataclasses.replace(DEPTH, trials_per_study=20)
    few, many = results(DEPTH, world), results(more, world)
    assert [t.value for t in few.trials] == [t.value for t in many.trials[:32]]


def test_objectives_and_names_of_ones_own() -> None:
    meaning = Meaning({"train_loss": "loss"})
    world = World(BOWL, objective=maximize("accuracy"), meaning=meaning, curve="power_half")
    found = results(DEPTH, world)
    assert found.metrics == ("accuracy", "loss")
    best = found.best()
    assert best.value == pytest.approx(1 - BOWL(best.unit))
    assert found.with_objective(minimize("loss")).best().number == best.number


def test_other_searches() -> None:
    listed = Listed.grid(learning_rate=[1e-3, 1e-2], beta1=[0.9])
    found = results(dataclasses.replace(DEPTH, trials_per_study=2), BOWL, search=listed)
    assert [t.configuration["learning_rate"] for t in found.of(0)] == [1e-3, 1e-2]
    assert {t.search for t in found.trials} == {"listed"}
