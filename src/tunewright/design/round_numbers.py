"""Round numbers: the ends of a range in few digits, and the values that an axis shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
MOST_TICKS = 6  # on one axis; more would touch each other


def in_digits(x: float, digits: int = 2) -> float:
    """A number in so many significant digits.

    >>> in_digits(0.031622), in_digits(0.99684, 4)
    (0.032, 0.9968)
    """
    return float(f"{x:.{digits}g}")


def without_dust(x: float) -> float:
    """A number without the rounding errors of arithmetic.

    >>> without_dust(0.1 * 3), without_dust(1e-17)
    (0.3, 0.0)
    """
    near = float(f"{x:.12g}")
    return 0.0 if abs(near) < 1e-15 else near


def outwards(x: float, up: bool) -> float:
    """A number with two digits, not less (`up`) or not more than it was.

    >>> outwards(0.1234, up=True), outwards(0.1234, up=False)
    (0.13, 0.12)
    """
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.floor(math.log10(abs(x))) - 1)
    near = (math.ceil if up else math.floor)(x / scale * (1 - 1e-12 if up else 1 + 1e-12))
    return float(f"{near * scale:.12g}")


def evenly(low: float, high: float) -> list[float]:
    """Round values at equal distances.

    >>> evenly(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    found = [min(max(k * step, low), high) for k in range(first, last + 1)]
    return [float(f"{x:.12g}") for x in found if low <= float(f"{x:.12g}") <= high] or [low, high]


def logarithmic(low: float, high: float) -> list[float]:
    """Powers of ten between the ends; with 2 and 5 between them where they are few.

    >>> logarithmic(1e-3, 0.5)
    [0.001, 0.01, 0.1]
    """
    slack = 1e-9
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for mantissas in ((1, 2, 5), (1,)):
        found = [
            float(f"{m}e{exponent}")
            for exponent in range(first, last + 1)
            for m in mantissas
            if low * (1 - slack) <= float(f"{m}e{exponent}") <= high * (1 + slack)
        ]
        if len(found) <= MOST_TICKS:
            break
    else:
        found = list(thinned(found, MOST_TICKS))
    kept = [min(max(x, low), high) for x in found]
    return kept if len(kept) >= 2 else evenly(low, high)


def thinned(values: Sequence[T], most: int) -> Sequence[T]:
    """Every second, third, ... of the values, so that at most so many are left."""
    return values[:: -(-len(values) // most)]
