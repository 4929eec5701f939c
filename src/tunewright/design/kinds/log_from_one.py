"""LogFromOne: uniform in the logarithm of 1 - x, for momentum and the betas of Adam."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tunewright.design.range import (
    Range,
    Scale,
    Side,
    Value,
    Wider,
    is_number,
    outwards,
    without_dust,
)
from tunewright.design.registry import (
    between,
    check_spread,
    invert,
    number_in,
    register,
    settle_bounds,
)
from tunewright.errors import DesignError


@register
@dataclass(frozen=True)
class LogFromOne(Range):
    """Uniform in the logarithm of 1 - x: on it 0.9 and 0.99 lie as far apart as 0.99 and 0.999."""

    kind: ClassVar[str] = "log_from_one"
    low: float  # the lower bound; below 1
    high: float  # the upper bound; below 1

    def __post_init__(self) -> None:
        settle_bounds(self, "log_from_one")
        if self.high >= 1:
            raise DesignError("range.high_not_below_one", range=self)
        check_spread(self, math.log1p(-self.high), math.log1p(-self.low))

    @property
    def scale(self) -> Scale:
        """A log scale of the distance from one."""
        return "log_from_one"

    def value(self, unit: float) -> float:
        """The value at this position."""
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return between(self, unit, lambda: -math.expm1(far + unit * (near - far)))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = number_in(self, value)
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return invert(self.value, (math.log1p(-x) - far) / (near - far), x)

    def place(self, value: Value) -> float | None:
        """Where a number below one lies on the scale, beyond the ends too."""
        if not is_number(value) or value >= 1:
            return None
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return (math.log1p(-value) - far) / (near - far)

    def widen(self, side: Side) -> Wider | None:
        """One end moved out by a decade of the distance from one, but not below zero."""
        low, high = self.low, self.high
        times = 1 + 1 / math.log10((1 - low) / (1 - high))
        if side == "low":
            ends = without_dust(max(0.0, 1 - (1 - low) * 10)), high
        else:
            ends = low, without_dust(1 - (1 - high) / 10)
        try:
            return Wider(LogFromOne(*ends), times)
        except DesignError:  # nearer to one than a float can be
            return None

    def narrow(self, low: float, high: float) -> Range | None:
        """The part between two positions, one minus each end in two digits, rounded outwards."""
        first, last = self.low, self.high
        if low > 0:
            first = max(first, _from_one(outwards(1 - self.value(low), up=True)))
        if high < 1:
            last = min(last, _from_one(outwards(1 - self.value(high), up=False)))
        return self.with_ends(first, last)


def _from_one(gap: float) -> float:
    return float(f"{1 - gap:.12g}")


def log_from_one(low: float, high: float) -> LogFromOne:
    """Search 1 - x on a log scale: momentum, beta1, beta2.

    Args:
        low: the smallest value.
        high: the largest value, below 1.

    >>> round(log_from_one(0.9, 0.999).value(0.5), 4)
    0.99
    """
    return LogFromOne(low, high)
