"""Which range do these values come from? A guess, for sources without declared ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
    Value,
    is_number,
)
from tunewright.design.registry import kinds
from tunewright.errors import DesignError

MOST_LISTED = 12  # different numbers, each tried about twice or more: a list was tried, not a range
TOLD_APART = 10.0  # a spread of this factor is needed before a log scale is considered


def distinct(values: Sequence[Value]) -> list[Value]:
    """Each value once, in order of appearance; True is not 1."""
    seen: dict[tuple[bool, Value], Value] = {}
    for value in values:
        seen.setdefault((isinstance(value, bool), value), value)
    return list(seen.values())


def listed(values: Sequence[Value]) -> Choice:
    """A choice of these values, numbers in order of size."""
    once = distinct(values)
    return Choice(tuple(sorted(once) if all(map(is_number, once)) else once))  # type: ignore[type-var]


def guessed_range(values: Sequence[Value]) -> Range:
    """The range that values of several trials seem to be drawn from; two different ones at least.

    Numbers that come back again and again are a list. Others are a range on the scale on which they
    lie most evenly, a little wider than what was seen: by the average gap between neighbours, which
    is how far the ends of a range lie beyond the extremes of so many draws, on average.

    >>> print(guessed_range([1e-4, 1e-3, 1e-2, 1e-1]), guessed_range([32, 64, 32, 64]))
    log(1e-05, 1) choice(32, 64)
    """
    once = distinct(values)
    if not all(map(is_number, once)):
        return listed(values)
    if len(once) <= MOST_LISTED and 2 * len(once) <= len(values):
        return listed(values)
    for kind in kinds().values():
        if (known := kind.guess(once)) is not None:
            return known
    numbers = sorted(float(value) for value in once)  # type: ignore[arg-type]
    whole = all(isinstance(value, int) for value in once)
    try:
        found = _integers(numbers) if whole else _fractions(numbers)
    except (DesignError, ArithmeticError, ValueError):  # at the limits of what a float can hold
        return listed(values)
    return found if found.low <= numbers[0] and numbers[-1] <= found.high else listed(values)


def _integers(numbers: Sequence[float]) -> Integers:
    on_log = _evenest(numbers) is _log
    low, high = _widened(numbers, _log if on_log else _same, math.exp if on_log else _same)
    least = 1 if numbers[0] >= 1 else 0 if numbers[0] >= 0 else -math.inf
    bounds = max(math.floor(low), least), math.ceil(high)
    return Integers(int(bounds[0]), int(bounds[1]), log=on_log)


def _fractions(numbers: Sequence[float]) -> Linear | Log | LogFromOne:
    scale = _evenest(numbers)
    if scale is _log:
        low, high = _widened(numbers, _log, math.exp)
        return Log(_two_digits(low, math.floor), _two_digits(high, math.ceil))
    if scale is _log_from_one:
        # one minus the value, so that the digits of 0.999 are kept
        far, near = (1 - x for x in _widened(numbers, _log_from_one, lambda y: 1 - math.exp(-y)))
        low, high = 1 - _two_digits(far, math.ceil), 1 - _two_digits(near, math.floor)
        return LogFromOne(min(low, numbers[0]), max(high, numbers[-1]))
    low, high = _widened(numbers, _same, _same)
    low, high = _two_digits(low, math.floor), _two_digits(high, math.ceil)
    if numbers[0] >= 0:
        low = max(low, 0.0)  # what was never negative, such as dropout, is not searched below zero
    if numbers[-1] <= 1:
        high = min(high, 1.0)
    return Linear(low, high)


Scale = Callable[[float], float]


def _same(x: float) -> float:
    return x


def _log(x: float) -> float:
    return math.log(x)


def _log_from_one(x: float) -> float:
    return -math.log1p(-x)


def _evenest(numbers: Sequence[float]) -> Scale:
    """The scale on which sorted numbers lie most evenly; linear unless another is clearly due."""
    low, high = numbers[0], numbers[-1]
    scales: list[Scale] = [_same]
    if low > 0 and high / low >= TOLD_APART:
        scales.append(_log)
    if low >= 0.5 and high < 1 and (1 - low) / (1 - high) >= TOLD_APART:
        scales.append(_log_from_one)
    return min(scales, key=lambda scale: _unevenness([scale(x) for x in numbers]))


def _unevenness(placed: Sequence[float]) -> float:
    """The largest distance between the numbers' distribution and the uniform one."""
    low, span = placed[0], placed[-1] - placed[0]
    if span <= 0:
        return math.inf
    last = len(placed) - 1
    return max(abs((x - low) / span - place / last) for place, x in enumerate(placed))


def _widened(numbers: Sequence[float], to: Scale, back: Scale) -> tuple[float, float]:
    low, high = to(numbers[0]), to(numbers[-1])
    gap = (high - low) / (len(numbers) - 1)
    return back(low - gap), back(high + gap)


def _two_digits(x: float, rounding: Callable[[float], int]) -> float:
    """Rounded to two digits, away from what was seen."""
    if x == 0 or not math.isfinite(x):
        return x
    power = math.floor(math.log10(abs(x))) - 1
    # nine digits first, so that 0.1 written as 0.09999999999999999 does not become 0.099
    scaled = float(f"{x:.9g}") / 10.0**power
    return float(f"{rounding(round(scaled, 6))}e{power}")
