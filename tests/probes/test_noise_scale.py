"""The gradient noise scale on gradients whose covariance is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tunewright as tw
from tunewright.errors import DesignError, NotFound
from tunewright.probes.noise_scale import noise_scale, noise_scale_of_trial, squared_norms
from tunewright.store.curves import Batch, Curves, pack
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import results


def norms(steps: int, small: int, big: int, signal: float, noise: float, seed: int = 0):
    """Norms of mean gradients: |G|^2 = signal, trace of the covariance = noise, 50 dimensions."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=50)
    truth *= np.sqrt(signal) / np.linalg.norm(truth)
    micro = big // small
    drawn = truth + random.normal(size=(steps, micro, 50)) * np.sqrt(noise / 50 / small)
    return np.linalg.norm(drawn[:, 0], axis=1), np.linalg.norm(drawn.mean(axis=1), axis=1)


@pytest.mark.parametrize("true_scale", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("small, big", [(8, 64), (32, 256)])
def test_the_known_scale_is_found(true_scale, small, big):
    low, high = norms(3000, small, big, signal=1.0, noise=true_scale)
    found = noise_scale(low, high, small, big, decay=0.999)
    assert found.measurements == 3000
    for _, value in found.at:
        assert value == pytest.approx(true_scale, rel=0.5)


def test_a_scale_that_grows_is_seen_to_grow():
    parts = [norms(1000, 16, 128, 1.0, scale, seed) for seed, scale in enumerate((20, 200, 2000))]
    low, high = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    found = noise_scale(low, high, 16, 128)
    course = [value for _, value in found.at]
    assert course[0] < course[1] < course[2]
    assert found.message.facts["course"] == [list(one) for one in found.at]
    assert found.to_data()["at"][-1][1] == found.batch_size == course[-1]


def test_pure_noise_has_no_scale():
    low, high = norms(400, 4, 8, signal=1e-9, noise=1.0, seed=3)
    values = [value for _, value in noise_scale(low, high, 4, 8).at]
    assert all(value is None or value > 50 for value in values)
    same = np.ones(10)
    assert noise_scale(same, same, 4, 8).batch_size is None


def test_squared_norms_of_tensors_and_arrays():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    parts = [[random.normal(size=(3, 4)), random.normal(size=5)] for _ in range(4)]
    low, high = squared_norms(parts)
    flat = np.array([np.concatenate([g.ravel() for g in own]) for own in parts])
    assert low == pytest.approx((flat**2).sum(axis=1).mean())
    assert high == pytest.approx((flat.mean(axis=0) ** 2).sum())
    tensors = squared_norms([[torch.tensor(g) for g in own] for own in parts])
    assert tensors == pytest.approx((low, high))
    with pytest.raises(DesignError, match="two or more"):
        squared_norms(parts[:1])


def test_from_the_norms_a_trial_logged():
    rates = {"learning_rate": tw.log(1e-4, 1e-1)}
    round = tw.Round("r", goal="?", nuisance=rates, trials_per_study=4)
    made = results(round, Bowl({"learning_rate": 0.5}))
    low, high = norms(500, 8, 64, 1.0, 100.0)
    trial = made.trials[0]
    steps = np.arange(500)
    points = {"gradient_norm_small": (steps, low), "gradient_norm": (steps, high)}
    own = replace(trial, curves=Curves([Batch(1, 0, pack(points))]))
    found = noise_scale_of_trial(made, 8, 64, trial=own)
    assert found.at[-1][1] == pytest.approx(100, rel=0.5)
    with pytest.raises(NotFound, match="never logged gradient_norm_small"):
        noise_scale_of_trial(made, 8, 64, trial=trial)


@pytest.mark.parametrize("small, big", [(8, 8), (0, 8), (16, 8)])
def test_two_sizes_are_needed(small, big):
    with pytest.raises(DesignError, match="smaller one first"):
        noise_scale([1.0], [1.0], small, big)
