"""Integers: whole numbers between two ends, on a linear or a log scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tunewright.design.range import (
    HALF_DECADE,
    Bins,
    Range,
    Scale,
    Side,
    Value,
    Wider,
    evenly,
    is_number,
    logarithmic,
)
from tunewright.design.registry import (
    check_order,
    check_spread,
    invert,
    number_in,
    register,
    settle_whole_bounds,
)
from tunewright.errors import DesignError


@register
@dataclass(frozen=True)
class Integers(Range):
    """Whole numbers from low to high, both included; on a log scale when `log`."""

    kind: ClassVar[str] = "integers"
    keys: ClassVar[tuple[str, ...]] = ("log",)
    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        settle_whole_bounds(self, "integers")
        if not isinstance(self.log, bool):
            raise DesignError("range.bad_log_flag", log=self.log)
        check_order("integers", self.low, self.high)
        if self.log and self.low <= 0:
            raise DesignError("range.log_integers_from_zero", range=self)
        if self.log:
            check_spread(self, math.log(self.low), math.log(self.high + 1))

    @property
    def scale(self) -> Scale:
        """A log scale when `log`."""
        return "log" if self.log else "linear"

    @property
    def bins(self) -> Bins:
        """One part for each whole number."""
        return Bins(self.low, self.high, self.log)

    def value(self, unit: float) -> int:
        """The whole number whose bin this position lies in."""
        if unit >= 1.0:
            return self.high
        if self.log:
            span = math.log(self.high + 1) - math.log(self.low)
            x = math.floor(math.exp(math.log(self.low) + unit * span))
        else:
            x = math.floor(self.low + unit * (self.high - self.low + 1))
        return min(max(x, self.low), self.high)

    def unit(self, value: Value) -> float:
        """The middle of this value's bin."""
        x = number_in(self, value)
        if x != int(x):
            raise DesignError("range.value_not_whole", value=value, range=self)
        if self.log:
            span = math.log(self.high + 1) - math.log(self.low)
            edges = (math.log(x) - math.log(self.low), math.log(x + 1) - math.log(self.low))
            middle = sum(edges) / 2 / span
        else:
            middle = (x - self.low + 0.5) / (self.high - self.low + 1)
        return invert(self.value, middle, x)  # bins of a wide range are narrower than rounding

    def place(self, value: Value) -> float | None:
        """The middle of a number's bin on the scale, beyond the ends too."""
        if not is_number(value):
            return None
        if not self.log:
            return (value - self.low + 0.5) / (self.high - self.low + 1)
        if value <= 0:
            return None
        low, high = math.log(self.low), math.log(self.high + 1)
        return ((math.log(value) + math.log(value + 1)) / 2 - low) / (high - low)

    def with_ends(self, low: float, high: float) -> Range | None:
        """The whole numbers between two numbers."""
        try:
            return Integers(int(low), int(high), self.log)
        except DesignError:
            return None

    def widen(self, side: Side) -> Wider | None:
        """One end moved out by a factor of two on a log scale, else by half the width."""
        low, high = self.low, self.high
        step = math.ceil((high - low) / 2)
        if side == "low":
            wider = self.with_ends(max(1, low // 2) if self.log else low - step, high)
        else:
            wider = self.with_ends(low, 2 * high if self.log else high + step)
        count = None if wider is None else wider.count
        return Wider(wider, count / (high - low + 1)) if wider is not None and count else None

    def covered(self, other: Range) -> float:
        """The share of these whole numbers that lies inside another range."""
        if other.choices is not None or other.ends is None:
            return 1.0
        low, high = max(self.low, other.ends[0]), min(self.high, other.ends[1])
        return 0.0 if low > high else (int(high) - int(low) + 1) / (self.high - self.low + 1)

    def near(self, value: float) -> Range | None:
        """Half a decade either way."""
        low, high = max(1, int(value / HALF_DECADE)), round(value * HALF_DECADE)
        return self.with_ends(low, high) if high > low else None

    def ticks(self) -> Sequence[Value]:
        """Round numbers that are whole."""
        marks = (logarithmic if self.log else evenly)(float(self.low), float(self.high))
        whole = sorted({round(x) for x in marks if self.low <= round(x) <= self.high})
        return whole or [self.low, self.high]

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {"integers": [self.low, self.high], **({"log": True} if self.log else {})}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The whole numbers that plain data means."""
        plain = super().from_data({"integers": data["integers"]})
        return cls(plain.low, plain.high, data["log"]) if "log" in data else plain

    @property
    def text(self) -> str:
        """How it is written."""
        return f"integers({self.low}, {self.high}{', log=True' if self.log else ''})"


def integers(low: int, high: int, log: bool = False) -> Integers:
    """Search whole numbers, both ends included.

    Args:
        low: the smallest value.
        high: the largest value.
        log: whether to search the logarithm uniformly.

    >>> [integers(1, 4).value(unit) for unit in (0.0, 0.3, 0.6, 1.0)]
    [1, 2, 3, 4]
    """
    return Integers(low, high, log)
