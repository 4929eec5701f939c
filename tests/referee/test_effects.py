"""The posterior of a change agrees with brute force, and the prior is learnt from changes."""

from __future__ import annotations

import numpy as np
import pytest

from tunewright.referee import _effects as effects


def test_the_posterior_agrees_with_sampling() -> None:
    """Draws from the prior, weighted by their likelihood, give the same mean and probability."""
    random = np.random.default_rng(0)
    own, s, runs = effects.prior(), 0.4, np.array([1.3, 0.8])
    count = 2_000_000
    kind = random.random(count)
    great = random.random(count) < effects.RARE
    good = random.exponential(np.where(great, effects.GREAT, 0.7))
    bad = random.exponential(1.5, count)
    effect = np.where(kind < 0.12, good, np.where(kind < 0.55, -bad, 0.0))
    place = effect - s * random.normal(size=count)
    weight = np.exp(sum(effects.log_t(one - place, 6.0) for one in runs))
    found = effects.posterior(own, np.array([s]), runs[None], np.array([6.0]), np.ones(1))
    mean = (weight * effect).sum() / weight.sum()
    better = (weight * (effect > 0)).sum() / weight.sum()
    error = (weight * (effect - place)).sum() / weight.sum()
    assert found.effect[0] == pytest.approx(mean, abs=0.01)
    assert found.better[0] == pytest.approx(better, abs=0.01)
    # the baseline's error is -e in these coordinates: effect = place + e
    assert found.error[0] == pytest.approx(error, abs=0.01)


def test_an_outlier_counts_less_than_agreement() -> None:
    own, s = effects.prior(), np.array([0.3])

    def judged(*runs: float) -> float:
        args = (np.array([runs]), np.array([4.0]), np.ones(1))
        return float(effects.posterior(own, s, *args).effect[0])

    assert judged(6.0, 0.0, 0.0) < judged(2.0, 2.0, 2.0)
    assert judged(500.0, 480.0) > 18  # beyond the grid it is judged as its end
    assert judged(-500.0) < 0


def test_a_run_more_has_value_where_the_decision_is_open() -> None:
    own, s = effects.prior(), np.array([0.3])
    freedom, threshold = np.array([6.0]), np.array([0.1])
    values = {}
    for run in (-3.0, 1.0, 20.0):
        found = effects.posterior(own, s, np.array([[run]]), freedom, np.ones(1))
        now = max(float(found.effect[0]) - 0.1, 0.0)
        values[run] = float(effects.value_of_one_run(found, threshold, freedom)[0]) - now
    assert values[1.0] > 5 * values[-3.0]
    assert values[1.0] > 5 * values[20.0]


def test_the_prior_is_learnt_and_shrunk() -> None:
    random = np.random.default_rng(1)
    effect = np.where(random.random(400) < 0.5, random.exponential(3.0, 400), 0.0)
    seen = effect + np.sqrt(0.6) * random.normal(size=400)
    learnt = effects.learn(effects.prior(), seen[None], np.full((1, 400), 0.6))
    assert 0.35 < learnt.good[0] < 0.6
    assert 2.0 < learnt.mean_good[0] < 4.0
    few = effects.learn(effects.prior(), seen[None, :3], np.full((1, 3), 0.6))
    assert abs(few.good[0] - 0.12) < 0.15
