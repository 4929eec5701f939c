from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.advice.exploit import saturation
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

SURFACE = Bowl({"learning_rate": 0.5, "beta1": 0.5})


def test_what_matters_decides() -> None:
    made = ran(asked(), World(SURFACE, evaluations=2))
    seen = saturation(made)
    assert seen is not None and seen.saturated is None and seen.matters is None
    for detect, expected in ((0.1, True), (1e-4, False)):
        found = saturation(replace(made, round=replace(made.round, detect=detect)))
        assert found is not None and found.saturated is expected
        assert found.gain == seen.gain


def test_repeats_give_the_yardstick() -> None:
    made = results(asked(), World(SURFACE, noise_sd=0.05, evaluations=2), repeats={0: 5})
    found = saturation(made)
    assert found is not None and found.matters is not None
    assert found.matters.source == "trial_sd"
    assert found.saturated is True


def test_too_few_trials_say_nothing() -> None:
    assert saturation(ran(asked(trials_per_study=4), World(SURFACE, evaluations=2))) is None
    assert saturation(replace(ran(asked(), World(SURFACE)), recorded=())) is None


def adaptive(made: Results, order: np.ndarray) -> Results:
    trials = [made.recorded[place] for place in order]
    renumbered = [replace(t, number=n, index=n, search="bayesian") for n, t in enumerate(trials)]
    return replace(made, recorded=tuple(renumbered), search="bayesian")


def test_an_adaptive_search_is_judged_by_what_its_second_half_brought() -> None:
    made = ran(asked(detect=0.02), World(SURFACE, evaluations=2))
    order = np.argsort([t.value for t in made.trials])
    early, late = (saturation(adaptive(made, o)) for o in (order, order[::-1]))
    assert early is not None and late is not None
    assert (early.saturated, early.gain) == (True, 0.0)
    assert late.saturated is False and late.gain > 0.02


def test_it_describes_the_space_and_the_budget() -> None:
    """Where doubling gains little it mostly says stop, and where it gains much it hardly does."""
    said: dict[float, tuple[float, float]] = {}
    for steepness in (0.1, 1.0, 10.0):
        done, gains = 0, []
        surface = Bowl(SURFACE.optimum, {"learning_rate": steepness, "beta1": steepness})
        for seed in range(25):
            world = World(surface, noise_sd=0.002, evaluations=2, seed=seed)
            now = ran(asked(seed=seed, trials_per_study=16, detect=0.02), world)
            twice = ran(asked(seed=seed, trials_per_study=32, detect=0.02), world)
            found = saturation(now)
            assert found is not None
            done += found.saturated is True
            gains.append((now.best().value or 0.0) - (twice.best().value or 0.0))
        said[steepness] = done / 25, float(np.mean(gains)) / 0.02
    assert said[0.1][0] == 1.0 and said[0.1][1] < 0.25
    assert said[1.0][0] > 0.7 and said[1.0][1] < 0.5
    assert said[10.0][0] < 0.2 and said[10.0][1] > 0.5
