"""The knee in worlds where it is known, and how often noise moves it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.probes.step_worlds import World

from tunewright.probes.throughput.size_sweep import Rate, gain, knee, passed, pays


def exact(*pairs: tuple[int, float], spread: float = 0.01) -> list[Rate]:
    return [Rate(b, r, r * (1 - spread), r * (1 + spread)) for b, r in pairs]


def test_gain_is_per_doubling() -> None:
    small, large = exact((8, 100.0), (32, 225.0), spread=0.0)
    assert gain(small, large) == pytest.approx((1.5, 1.5))
    loose = exact((8, 100.0), (16, 150.0), spread=0.1)
    ratio, low = gain(*loose)
    assert ratio == pytest.approx(1.5) and 1.2 < low < 1.4


def test_the_scan_stops_at_the_first_doubling_that_fails() -> None:
    rates = exact((1, 100), (2, 190), (4, 350), (8, 360), (16, 365))
    assert knee(rates) == 4 and passed(rates)
    assert not passed(rates[:4])
    assert knee(rates[:1]) == 1


def test_one_bad_size_is_passed_over() -> None:
    rates = exact((1, 100), (2, 190), (4, 192), (8, 600), (16, 610), (32, 612))
    assert knee(rates) == 8
    assert not pays(rates[1], rates[2])


def test_a_gain_that_is_not_sure_does_not_pay() -> None:
    assert pays(*exact((8, 100.0), (16, 115.0), spread=0.01))
    assert not pays(*exact((8, 100.0), (16, 115.0), spread=0.10))


def test_error_rates_on_simulated_worlds() -> None:
    """Steps of a + b B with 2 % noise: the knee is where the true gain passes 10 %."""
    generator, worlds, wrong, far = np.random.default_rng(1), 300, 0, 0
    for _ in range(worlds):
        world = World(overhead_s=1e-3, per_example_s=10 ** generator.uniform(-6, -4))
        sizes = [2**k for k in range(14)]
        rates = []
        for size in sizes:
            true = size / world.step_s(size)
            windows = np.sort(true * np.exp(0.02 * generator.normal(size=6)))
            rates.append(Rate(size, float(np.median(windows)), windows[0], windows[-1]))
        true_knee = next(b for b in sizes if 2 * world.step_s(b) / world.step_s(2 * b) < 1.10)
        found = knee(rates)
        off = abs(math.log2(found / true_knee))
        wrong += off > 1
        far += off > 0
    # the lower bound stops a doubling early at most: the last one gains 10 to 19 % here
    assert wrong / worlds <= 0.02
    assert far / worlds < 0.75
