from __future__ import annotations

from dataclasses import replace

import numpy as np

import tunewright as tw
from tunewright.search.bayesian.history import History, history
from tunewright.search.bayesian.model import Recipe, for_search, learn
from tunewright.stats.measurement import own_sd
from tunewright.store.trial import Trial

BOX = {"rate": tw.log(1e-4, 1), "decay": tw.linear(0, 1), "width": tw.integers(16, 256)}
BEST = np.array([0.4, 0.8, 0.6])


def seen(noise: float, seed: int, count: int = 40, decades: float = 0.0) -> History:
    """Quasi-random trials of a bounded bowl, or with values over so many decades."""
    round = tw.Round("r", goal="?", nuisance=BOX, trials_per_study=count, seed=seed)
    study = round.studies[0]
    random = np.random.default_rng(seed)
    trials = []
    for n, one in enumerate(tw.search.Halton().suggest(study, [], count)):
        away = float(((np.array(list(one.unit.values())) - BEST) ** 2).sum())
        value = 10 ** (decades * away) if decades else 1 - float(np.exp(-4 * away))
        value += noise * float(random.standard_normal())
        trials.append(
            Trial(
                number=n,
                study=0,
                index=n,
                configuration=one.configuration,
                unit=one.unit,
                status="completed",
                value=value,
            )
        )
    return history(study, trials)


def test_noise_makes_it_keep_plain_values() -> None:
    spoke = [for_search(seen(0.1, seed), Recipe()) for seed in range(8)]
    assert sum(model.noisy > 0 for model in spoke) >= 6
    for model in spoke:
        if model.noisy:
            assert model.process.mean == 0.0, "the average of what was seen"
            steps = np.diff(model.warp.warped) / np.diff(model.warp.values)
            assert np.allclose(steps, steps[0]), "a straight line"


def test_without_noise_it_keeps_ranks_and_the_stretched_good_end() -> None:
    for decades in (0.0, 4.0):
        for seed in range(5):
            known = seen(0.0, seed, decades=decades)
            found, usual = for_search(known, Recipe()), learn(known, Recipe())
            assert not found.noisy
            assert np.array_equal(found.data.values, usual.data.values)


def test_one_diverged_trial_keeps_the_usual_values() -> None:
    known = seen(0.1, 0)
    assert for_search(known, Recipe()).noisy
    diverged = replace(known, values=np.where(np.arange(40) == 3, np.nan, known.values))
    assert not for_search(diverged, Recipe()).noisy


def test_it_can_be_turned_off() -> None:
    assert not for_search(seen(0.1, 0), Recipe(noisy=0.0)).noisy
    assert not for_search(seen(0.1, 0, count=19), Recipe()).noisy, "too few to tell"


def measured(sd: float, of: History) -> History:
    """The same history, every value with this standard deviation of its own."""
    return replace(of, measured=np.full(len(of.rows), sd))


def test_a_measurement_error_is_a_lower_bound_of_the_noise() -> None:
    usual = learn(seen(0.0, 0), Recipe())
    known = learn(measured(0.05, seen(0.0, 0)), Recipe())
    assert not usual.data.doubt.any()
    assert known.data.doubt.min() > 0
    at = known.data.features
    assert known.process.predict(at)[1].mean() > 2 * usual.process.predict(at)[1].mean()
    plain = replace(Recipe(), halves=False, bend=0.0)
    told = learn(measured(0.05, seen(0.0, 0)), plain)
    straight = (0.05 / (np.std(seen(0.0, 0).values))) ** 2
    assert np.allclose(told.data.doubt, straight, rtol=0.01)


def test_values_measured_badly_count_for_less() -> None:
    clean = seen(0.0, 3)
    values = clean.values.copy()
    worst = int(values.argmax())
    values[worst] = values.min() - 0.2  # one evaluation on very few examples
    wrong = replace(clean, values=values)
    trusting = learn(wrong, Recipe())
    doubting = learn(replace(wrong, measured=np.eye(len(values))[worst] * 0.5), Recipe())
    row = clean.encoding.features(clean.rows[[worst]])
    assert doubting.process.predict(row)[0] > trusting.process.predict(row)[0] + 0.3


def test_the_uncertainty_of_a_trial_reaches_the_history() -> None:
    trials = [
        replace(t, measured=tw.Measured(t.value or 0.0, sd=0.04)) for t in seen(0.1, 0).trials
    ]
    study = tw.Round("r", goal="?", nuisance=BOX, trials_per_study=40).studies[0]
    assert np.allclose(history(study, trials).measured, own_sd(0.04))


def test_noise_that_measurement_explains_makes_it_keep_plain_values_too() -> None:
    spoke = [for_search(measured(0.1, seen(0.1, seed)), Recipe()) for seed in range(4)]
    assert sum(model.noisy > 0 for model in spoke) >= 3
