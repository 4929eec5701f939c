from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, shape
from tests.checks.rates import agrees, at_most

from tunewright.stats.spikes import spikes


def losses(
    rng: np.random.Generator, points: int, sd: float, correlation: float, kind: str
) -> np.ndarray:
    mean = shape("slow", points) + 0.1
    if kind == "gamma":
        return mean * rng.gamma(1 / sd**2, sd**2, (150, points))
    return mean * np.exp(sd * noise(rng, 150, points, correlation, kind))


def test_the_reference_numbers_are_reproduced() -> None:
    i = np.arange(1, 61)
    loss = np.exp(-i / 30) * (1 + 0.02 * np.sin(i * i))
    loss[40:43] *= 2
    (found,) = spikes(loss[None])
    assert (found.first, found.last) == (39, 41)
    assert found.z == pytest.approx(26.46451735862002)
    assert found.height == pytest.approx(np.expm1(0.6065036823472701), rel=0.05)


@pytest.mark.parametrize("points", [100, 300, 1000])
@pytest.mark.parametrize(
    ("kind", "correlation"), [("gauss", 0.0), ("gauss", 0.8), ("t5", 0.0), ("gamma", 0.0)]
)
def test_noise_alone_is_no_spike(points: int, kind: str, correlation: float) -> None:
    rng = np.random.default_rng(points)
    for sd in (0.03, 0.1, 0.2):
        found = spikes(losses(rng, points, sd, correlation, kind))
        assert at_most(len({spike.row for spike in found}), 150, 0.01), sd


@pytest.mark.parametrize(
    ("points", "sd", "published"),
    [(100, 0.03, 1.0), (300, 0.03, 1.0), (1000, 0.03, 1.0), (300, 0.1, 0.55), (1000, 0.1, 0.92)],
)
def test_power_for_a_doubling_is_the_published_one(
    points: int, sd: float, published: float
) -> None:
    rng = np.random.default_rng(points)
    values = losses(rng, points, sd, 0.0, "gauss")
    start = rng.integers(int(0.2 * points), int(0.9 * points), 150)
    for row, at in enumerate(start):
        values[row, at : at + max(2, points // 100)] *= 2
    found = {spike.row: spike for spike in spikes(values)}
    assert agrees(len(found), 150, published, slack=0.04)
    hits = [abs(found[row].first - start[row]) <= 2 for row in found]
    assert np.mean(hits) > 0.97


def test_a_lone_point_is_no_spike_and_neither_are_the_first_four() -> None:
    rng = np.random.default_rng(1)
    values = losses(rng, 100, 0.02, 0.0, "gauss")[:20]
    lone, early = values.copy(), values.copy()
    lone[:, 50] *= 3
    early[:, :4] *= 3
    assert not spikes(lone) and not spikes(early)


def test_losses_may_be_negative() -> None:
    rng = np.random.default_rng(2)
    values = shape("slow", 100) - 5.0 + 0.01 * noise(rng, 20, 100, 0.0)
    assert not spikes(values)
    values[3, 60:63] += 3.0
    (found,) = spikes(values)
    assert found.row == 3 and 0.4 < found.height < 0.8  # relative to the size of the loss


def test_many_rows_are_read_in_parts() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([losses(rng, 60, 0.02, 0.0, "gauss") for _ in range(4)])
    values[[10, 400], 30:33] *= 2
    assert sorted(spike.row for spike in spikes(values)) == [10, 400]


def test_too_few_points_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 60"):
        spikes(np.ones((1, 59)))
