"""Warm-up until steady, windows of the right length, intervals that hold the truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from tunewright.errors import DesignError, WorkloadError
from tunewright.probes.throughput.timing import (
    Timing,
    TimingRule,
    median_interval,
    settle,
    time_step,
)

RULE = TimingRule()


class Steps:
    """Steps of given times, which remembers what it was asked for."""

    def __init__(self, step_s: float, slow_first: int = 0, noise: float = 0.0) -> None:
        self.step_s, self.slow_first, self.noise = step_s, slow_first, noise
        self.asked: list[list[int]] = []
        self.done = itertools.count()
        self.generator = np.random.default_rng(0)

    def __call__(self, windows: Sequence[int]) -> list[float]:
        self.asked.append(list(windows))
        times = []
        for steps in windows:
            slow = sum(max(self.slow_first - next(self.done), 0) for _ in range(min(steps, 100)))
            noise = float(np.exp(self.noise * self.generator.normal()))
            times.append((steps + slow) * self.step_s * noise)
        return times


def test_it_warms_up_until_five_steps_agree() -> None:
    quick, compiled = Steps(0.01), Steps(0.01, slow_first=17)
    assert settle(quick, RULE) == (pytest.approx(0.01), True)
    assert sum(map(len, quick.asked)) == 10
    assert settle(compiled, RULE) == (pytest.approx(0.01), True)
    assert 22 <= sum(map(len, compiled.asked)) <= 25
    restless = Steps(0.01, noise=0.5)
    assert not settle(restless, RULE)[1]
    assert sum(map(len, restless.asked)) == 50
    slow = Steps(5.0, noise=0.5)  # twenty seconds are enough, however restless
    settle(slow, RULE)
    assert sum(map(len, slow.asked)) == 10


def test_windows_are_long_enough_and_many_enough() -> None:
    steps = Steps(0.01)
    found = time_step(steps, RULE)
    assert found.steps_per_window == 50 and len(found.window_s) == 6
    assert found.time_per_step_s == pytest.approx(0.01) and found.steady
    slow = time_step(Steps(2.0), RULE)
    assert slow.steps_per_window == 1 and len(slow.window_s) == 6


def test_a_restless_machine_is_given_twice_the_windows() -> None:
    assert len(time_step(Steps(0.01, noise=0.3), RULE).window_s) == 12
    assert len(time_step(Steps(0.01, noise=0.001), RULE).window_s) == 6


def test_doing_nothing_is_not_a_step() -> None:
    with pytest.raises(WorkloadError, match="time of doing nothing"):
        time_step(Steps(3e-7), RULE)


@pytest.mark.parametrize("count", [6, 12, 25])
def test_the_interval_holds_the_median_as_often_as_it_says(count: int) -> None:
    draws = np.random.default_rng(count).exponential(size=(2000, count))
    held = [low <= np.log(2) <= high for low, high in map(median_interval, draws)]
    # 95 % promised; 2000 worlds: three binomial deviations are 1.5 %
    assert np.mean(held) >= 0.935


def test_a_disturbed_window_moves_neither_the_time_nor_the_lower_end() -> None:
    calm = Timing(10, (1.0,) * 6, True)
    disturbed = Timing(10, (1.0,) * 5 + (30.0,), True)
    assert disturbed.time_per_step_s == calm.time_per_step_s
    assert disturbed.interval_s == (0.1, 3.0)


def test_a_rule_that_measures_nothing_is_refused() -> None:
    with pytest.raises(DesignError, match="at least 3"):
        TimingRule(windows=1)
