"""Log: uniform in the logarithm, for learning rates and weight decay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tunewright.design.range import Range, Scale, Side, Value, Wider, is_number, without_dust
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
class Log(Range):
    """Uniform in the logarithm between low and high."""

    kind: ClassVar[str] = "log"
    low: float
    high: float

    def __post_init__(self) -> None:
        settle_bounds(self, "log")
        if self.low <= 0:
            raise DesignError("range.log_from_zero", range=self)
        check_spread(self, math.log(self.low), math.log(self.high))

    @property
    def scale(self) -> Scale:
        """A log scale."""
        return "log"

    def value(self, unit: float) -> float:
        """The value at this position."""
        # the difference of logarithms, since high / low may overflow
        low, high = math.log(self.low), math.log(self.high)
        return between(self, unit, lambda: math.exp(low + unit * (high - low)))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = number_in(self, value)
        span = math.log(self.high) - math.log(self.low)
        return invert(self.value, (math.log(x) - math.log(self.low)) / span, x)

    def place(self, value: Value) -> float | None:
        """Where a positive number lies on the scale, beyond the ends too."""
        if not is_number(value) or value <= 0:
            return None
        low, high = math.log(self.low), math.log(self.high)
        return (math.log(value) - low) / (high - low)

    def widen(self, side: Side) -> Wider | None:
        """One end moved out by a decade."""
        low, high = self.low, self.high
        ends = (without_dust(low / 10), high) if side == "low" else (low, without_dust(high * 10))
        try:
            return Wider(Log(*ends), 1 + 1 / math.log10(high / low))
        except DesignError:  # beyond every float
            return None


def log(low: float, high: float) -> Log:
    """Search the logarithm uniformly: learning rates, weight decay.

    Args:
        low: the smallest value, above 0.
        high: the largest value.

    >>> round(log(1e-4, 1.0).value(0.5), 6)
    0.01
    """
    return Log(low, high)
