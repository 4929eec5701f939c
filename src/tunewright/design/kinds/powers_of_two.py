"""PowersOfTwo: batch sizes and widths that double, 16, 32, 64 and so on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tunewright.design.range import (
    MOST_TICKS,
    Bins,
    Range,
    Scale,
    Side,
    Value,
    Wider,
    is_number,
    thin,
)
from tunewright.design.registry import check_order, number_in, register, settle_whole_bounds
from tunewright.errors import DesignError

_FEWEST_GUESSED = 4  # different values, all powers of two, are hardly drawn from other numbers


@register
@dataclass(frozen=True)
class PowersOfTwo(Range):
    """The powers of two from low to high, both included; all equally likely."""

    kind: ClassVar[str] = "powers_of_two"
    low: int
    high: int

    def __post_init__(self) -> None:
        settle_whole_bounds(self, self.kind)
        for bound in ("low", "high"):
            if not _is_power(getattr(self, bound)):
                given = getattr(self, bound)
                raise DesignError(
                    "range.bound_of_other_kind", kind=self.kind, bound=bound, value=given
                )
        check_order(self.kind, self.low, self.high)

    @property
    def scale(self) -> Scale:
        """A log scale."""
        return "log"

    @property
    def bins(self) -> Bins:
        """One part for each power."""
        return Bins(_exponent(self.low), _exponent(self.high))

    def value(self, unit: float) -> int:
        """The power of two whose bin this position lies in."""
        bins = self.bins
        exponent = bins.first + math.floor(unit * bins.count)
        return 1 << min(max(exponent, bins.first), bins.last)

    def unit(self, value: Value) -> float:
        """The middle of this value's bin."""
        x = number_in(self, value)
        if x != int(x) or not _is_power(int(x)):
            raise DesignError("range.value_of_other_kind", value=value, range=self)
        return (_exponent(int(x)) - self.bins.first + 0.5) / self.bins.count

    def place(self, value: Value) -> float | None:
        """Where a positive number lies on the scale, beyond the ends too."""
        if not is_number(value) or value <= 0:
            return None
        return (math.log2(value) - self.bins.first + 0.5) / self.bins.count

    def with_ends(self, low: float, high: float) -> Range | None:
        """The powers of two between two numbers."""
        if low <= 0 or high < 1 or math.isinf(high):
            return None
        ends = 2 ** max(math.ceil(math.log2(low)), 0), 2 ** math.floor(math.log2(high))
        try:
            return PowersOfTwo(*ends)
        except DesignError:
            return None

    def widen(self, side: Side) -> Wider | None:
        """Two more powers at one end, about half a decade; none below 1."""
        ends = (max(self.low // 4, 1), self.high) if side == "low" else (self.low, 4 * self.high)
        wider = self.with_ends(*ends)
        if wider is None or wider == self or wider.count is None:
            return None
        return Wider(wider, wider.count / self.bins.count)

    def near(self, value: float) -> Range | None:
        """One power more on either side of a value."""
        return None if value <= 0 else self.with_ends(max(value / 2, 1), value * 2)

    def ticks(self) -> Sequence[Value]:
        """The powers, of a long range a few."""
        return thin([2**k for k in range(self.bins.first, self.bins.last + 1)], MOST_TICKS)

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {self.kind: [self.low, self.high]}

    @classmethod
    def guess(cls, values: Sequence[Value]) -> Self | None:
        """The powers of two from the smallest to the largest value, where all values are some."""
        whole = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
        if len(whole) < max(_FEWEST_GUESSED, len(values)) or not all(map(_is_power, whole)):
            return None
        return cls(min(whole), max(whole))

    @property
    def text(self) -> str:
        """How it is written."""
        return f"powers_of_two({self.low}, {self.high})"


def powers_of_two(low: int, high: int) -> PowersOfTwo:
    """Search the powers of two from low to high: batch sizes, widths.

    Args:
        low: the smallest power of two.
        high: the largest power of two.

    >>> [powers_of_two(16, 128).value(unit) for unit in (0.0, 0.3, 0.6, 1.0)]
    [16, 32, 64, 128]
    """
    return PowersOfTwo(low, high)


def _is_power(x: int) -> bool:
    return x > 0 and x & (x - 1) == 0


def _exponent(x: int) -> int:
    return x.bit_length() - 1
