"""How long does a step take? Warm up until steady, then time windows with one wait each.

A wait for the device after every step would stop the host from running ahead of it, and what would
be measured is another program: so windows of many steps are timed as a whole. The median window is
the answer, with an interval from order statistics, which no single disturbed window can move.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tunewright.errors import DesignError, WorkloadError

_STEADY_STEPS, _STEADY_SPREAD = 5, 0.10  # the last five steps lie within 10 % of each other
_LONGEST_SETTLING_S = 20.0  # a step of seconds needs no fifty of them
_NOTHING_S = 3e-6  # an empty function takes a tenth of this, one small matrix product ten times it

RunWindows = Callable[[Sequence[int]], Sequence[float]]  # steps of each window -> its seconds


@dataclass(frozen=True, kw_only=True)
class TimingRule:
    """How carefully a step is timed."""

    window_s: float = 0.5  # a window lasts at least this long
    windows: int = 6  # the fewest with which an order-statistics interval reaches 95 %
    seconds: float = 3.0  # all windows together last at least this long
    settling: int = 10  # first steps, at least: compilation, caches, allocation
    most_settling: int = 50  # first steps, at most
    spread: float = 0.05  # of the quartiles over the median; above it, windows are added

    def __post_init__(self) -> None:
        if self.window_s <= 0 or self.seconds <= 0 or self.windows < 3 or self.settling < 1:
            raise DesignError("throughput.bad_windows", what=self)


@dataclass(frozen=True)
class Timing:
    """What was measured of one step."""

    steps_per_window: int
    window_s: tuple[float, ...]  # seconds of each window
    steady: bool  # whether the step had become steady before the windows began

    @property
    def time_per_step_s(self) -> float:
        """The median window's."""
        return statistics.median(self.window_s) / self.steps_per_window

    @property
    def interval_s(self) -> tuple[float, float]:
        """Where the median time per step lies, with 95 % confidence, from order statistics.

        >>> Timing(10, (1.0, 1.1, 1.2, 1.3, 1.4, 9.0), True).interval_s
        (0.1, 0.9)
        """
        low, high = median_interval(self.window_s)
        return low / self.steps_per_window, high / self.steps_per_window

    @property
    def spread(self) -> float:
        """The distance of the quartiles over the median."""
        return _spread(self.window_s)


def time_step(run: RunWindows, rule: TimingRule) -> Timing:
    """Time one step; `run` does the requested number of steps in each window."""
    step_s, steady = settle(run, rule)
    steps = max(1, math.ceil(rule.window_s / step_s))
    count = max(rule.windows, math.ceil(rule.seconds / max(rule.window_s, steps * step_s)))
    windows = list(run([steps] * count))
    if _spread(windows) > rule.spread:
        windows += run([steps] * count)  # a disturbed machine: as many again
    timing = Timing(steps, tuple(windows), steady)
    if timing.time_per_step_s < _NOTHING_S:
        raise WorkloadError(
            "throughput.step_does_nothing", microseconds=timing.time_per_step_s * 1000000.0
        )
    return timing


def settle(run: RunWindows, rule: TimingRule) -> tuple[float, bool]:
    """Do steps until the last five agree; the time of one, and whether they did."""
    started = time.monotonic()
    times = list(run([1] * rule.settling))
    while not _steady(times):
        # a program that prints seldom takes longer than its steps that were asked for
        spent = max(sum(times), time.monotonic() - started)
        if len(times) >= rule.most_settling or spent > _LONGEST_SETTLING_S:
            break
        times += run([1] * _STEADY_STEPS)
    # a single step that is waited for shows an upper limit of its time among others
    return max(statistics.median(times[-_STEADY_STEPS:]), 1e-9), _steady(times)


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % interval of the median; the whole range where the values are too few for it.

    >>> median_interval(list(range(100)))
    (39, 60)
    """
    ordered, below = sorted(values), 0
    while below < len(ordered) // 2 and _at_most(below, len(ordered)) <= 0.025:
        below += 1
    first = max(below - 1, 0)
    return ordered[first], ordered[-1 - first]


def _at_most(k: int, n: int) -> float:
    """The probability of at most k heads in n tosses."""
    return float(sum(math.comb(n, i) for i in range(k + 1))) / 2.0**n


def _steady(times: Sequence[float]) -> bool:
    last = times[-_STEADY_STEPS:]
    return len(last) == _STEADY_STEPS and max(last) - min(last) <= _STEADY_SPREAD * max(last)


def _spread(values: Sequence[float]) -> float:
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / statistics.median(values)
