"""Linear: uniform between two numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tunewright.design.range import Range, Side, Value, Wider, is_number, without_dust
from tunewright.design.registry import between, invert, number_in, register, settle_bounds
from tunewright.errors import DesignError


@register
@dataclass(frozen=True)
class Linear(Range):
    """Uniform between low and high."""

    kind: ClassVar[str] = "linear"
    low: float
    high: float

    def __post_init__(self) -> None:
        settle_bounds(self, "linear")

    def value(self, unit: float) -> float:
        """The value at this position."""
        return between(self, unit, lambda: self.low + unit * (self.high - self.low))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = number_in(self, value)
        return invert(self.value, (x - self.low) / (self.high - self.low), x)

    def place(self, value: Value) -> float | None:
        """Where a number lies on the scale, beyond the ends too."""
        if not is_number(value):
            return None
        return (value - self.low) / (self.high - self.low)

    def widen(self, side: Side) -> Wider | None:
        """One end moved out by half the width."""
        width = (self.high - self.low) / 2
        try:
            if side == "low":
                return Wider(Linear(self.low - width, self.high), 1.5)
            return Wider(Linear(self.low, without_dust(self.high + width)), 1.5)
        except DesignError:  # beyond every float
            return None


def linear(low: float, high: float) -> Linear:
    """Search uniformly between low and high.

    Args:
        low: the smallest value.
        high: the largest value.

    >>> linear(0.0, 0.5).value(0.5)
    0.25
    """
    return Linear(low, high)
