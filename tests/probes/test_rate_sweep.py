"""The sweep of learning rates: where it looks next, and the DeepOBS sweeps replayed through it."""

from __future__ import annotations

import itertools

import pytest
from tests.probes.recorded_sweeps import FOLDER, RecordedSweep

from tunewright.probes.rate_sweep import (
    Criterion,
    beyond,
    fastest,
    grid,
    judge_rates,
    side_of,
    sweep,
)

recorded = pytest.mark.skipif(not FOLDER.exists(), reason="the recorded sweeps are not here")


@pytest.mark.parametrize("centre", [1e-4, 0.03, 1.0])
def test_the_grid_keeps_its_spacing_however_it_grows(centre):
    rates = list(grid(centre))
    for _ in range(3):
        rates = [*beyond(rates, "low"), *rates, *beyond(rates, "high")]
    ratios = [b / a for a, b in itertools.pairwise(rates)]
    assert len(rates) == 7 + 3 * 4
    assert all(ratio == pytest.approx(10**0.5, rel=1e-3) for ratio in ratios)


ACCURATE = Criterion("train/accuracy", 0.001, 1.0, falls=False)


@recorded
@pytest.mark.parametrize("optimizer", ["Adam", "Momentum", "GradientDescent"])
@pytest.mark.parametrize("centre", [1e-3, 1e-2, 1e-1])
def test_recorded_sweeps_of_a_classifier_find_what_all_rates_find(optimizer, centre):
    """36 recorded learning rates stand for the truth; the sweep sees 7 to 13 of them."""
    world = RecordedSweep("fmnist_2c2d", optimizer, "train/accuracy")
    found = sweep(world.train, lambda _: ACCURATE, grid(centre), 12)
    truth = fastest(judge_rates(world.train(list(world.curves), 100), ACCURATE), ACCURATE)
    assert found.verdict == "fits" and side_of(found.best, found.rates) == ""
    assert truth.steps <= found.best.steps <= 1.2 * truth.steps
    assert abs(found.best.learning_rate / truth.learning_rate) == pytest.approx(1, abs=0.6)


@recorded
@pytest.mark.parametrize("optimizer", ["Adam", "Momentum", "GradientDescent"])
def test_recorded_sweeps_of_a_quadratic_by_a_threshold(optimizer):
    world = RecordedSweep("quadratic_deep", optimizer, "train/loss")
    wanted = Criterion("train/loss", 87.0)
    truth = fastest(judge_rates(world.train(list(world.curves), 100), wanted), wanted)
    for centre in (1e-3, 1e-2, 1e-1):
        found = sweep(world.train, lambda _: wanted, grid(centre), 12)
        assert found.verdict == "fits"
        assert truth.steps <= found.best.steps <= 1.5 * truth.steps + 1


@recorded
def test_a_recorded_sweep_that_never_reaches_its_floor_is_compute_bound():
    world = RecordedSweep("mnist_vae", "Adam", "train/loss")
    found = sweep(world.train, lambda _: Criterion("train/loss", None), grid(1e-3), 6)
    assert found.verdict == "compute_bound" and found.length == 48
    assert found.best.learning_rate == 0.0003162


@recorded
def test_a_recorded_sweep_in_which_nothing_learns_is_no_fit():
    world = RecordedSweep("mnist_vae", "Momentum", "train/loss")
    found = sweep(world.train, lambda _: Criterion("train/loss", None), grid(0.03), 12)
    assert found.verdict in ("plateau", "at_edge")
