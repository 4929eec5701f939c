"""The Range protocol: what the rest of the package needs to know of a kind of range.

A kind subclasses `Range` and defines `kind`, `value` and `unit`; one with the fields `low` and
`high` inherits everything else. `register` makes it known by its name, so that round files, the
store and the importers can read it; `tunewright.testing.check_range` is the contract test.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from tunewright.design.belief import Belief, believed
from tunewright.design.round_numbers import (
    MOST_TICKS,
    evenly,
    in_digits,
    logarithmic,
    outwards,
    thinned,
)
from tunewright.design.values import Value, is_number, short
from tunewright.errors import DesignError

Side = Literal["low", "high"]
Scale = Literal["linear", "log", "log_from_one"]
HALF_DECADE = 10**0.5
AT_THE_TOP = ("choice", "integers", "linear", "log")  # kinds that `tunewright` itself names
MOST_SHOWN = 2 * MOST_TICKS  # values of a list that an axis shows


@dataclass(frozen=True)
class Bins:
    """Which part of the unit interval each value of a discrete range takes.

    The values are numbered from `first` to `last`. All parts are equally wide, or with `log` as
    wide as the numbers are on a log scale.
    """

    first: int
    last: int
    log: bool = False

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.last - self.first + 1

    def middles(self) -> Iterator[float]:
        """The middle of each value's part.

        >>> list(Bins(0, 1).middles())
        [0.25, 0.75]
        """
        if not self.log:
            yield from ((number + 0.5) / self.count for number in range(self.count))
            return
        low, high = math.log(self.first), math.log(self.last + 1)
        for number in range(self.first, self.last + 1):
            yield ((math.log(number) + math.log(number + 1)) / 2 - low) / (high - low)


@dataclass(frozen=True)
class Wider:
    """A range that reaches further at one end, and how many times as wide it is."""

    range: Range
    times: float


@dataclass(frozen=True, eq=False, repr=False)
class Range(ABC):
    """What a hyperparameter may be, on the scale it is searched on.

    Only `kind`, `value` and `unit` have no default. `value(unit(v)) == v` holds exactly for every
    value that a range can produce, so that a trial can be moved between spaces without drifting.
    """

    kind: ClassVar[str]  # its name in round files and messages
    keys: ClassVar[tuple[str, ...]] = ()  # what may stand beside that name in a round file
    # where the best value probably lies; `around` gives it
    belief: Belief | None = field(default=None, kw_only=True, repr=False)

    @abstractmethod
    def value(self, unit: float) -> Value:
        """The value at this position of the unit interval."""

    @abstractmethod
    def unit(self, value: Value) -> float:
        """The position of this value; a DesignError for a value outside."""

    @property
    def scale(self) -> Scale:
        """The scale on which neighbours lie equally far apart."""
        return "linear"

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and the largest number; None for values that are no numbers."""
        if hasattr(self, "low") and hasattr(self, "high"):
            return self.low, self.high
        low, high = self.value(0.0), self.value(1.0)
        return (low, high) if is_number(low) and is_number(high) else None  # type: ignore[return-value]

    @property
    def bins(self) -> Bins | None:
        """Which positions each value takes; None for a continuous range."""
        return None

    @property
    def count(self) -> int | None:
        """How many values there are; None for a continuous range."""
        return None if self.bins is None else self.bins.count

    @property
    def choices(self) -> tuple[Value, ...] | None:
        """The values of a list that the user wrote down; None for a range with a rule."""
        return None

    @property
    def ordered(self) -> bool:
        """Whether neighbours are alike, so that the ends mean something."""
        return True

    def contains(self, value: Value) -> bool:
        """Whether a trial of this range can have the value."""
        try:
            self.unit(value)
        except DesignError:
            return False
        return True

    def place(self, value: Value) -> float | None:
        """Where a value lies on the scale, beyond 0 and 1 too; None where it has no place."""
        return self.unit(value) if self.contains(value) else None

    def along(self, position: float) -> float:
        """A position stretched so that the smallest value lies at 0 and the largest at 1."""
        if self.bins is None:
            return position
        low, high = self.unit(self.value(0.0)), self.unit(self.value(1.0))
        return (self.unit(self.value(position)) - low) / (high - low) if high > low else 0.5

    def features(self, position: Any) -> tuple[Any, ...]:
        """What a model measures distances between, for one position or an array of them.

        A range without an order has one feature for each value: the corners of a simplex of side 1.
        """
        if self.ordered or self.count is None:
            return (position,)
        bin = position * self.count // 1
        return tuple((bin == number) / math.sqrt(2) for number in range(self.count))

    def with_ends(self, low: float, high: float) -> Range | None:
        """The range of this kind between two numbers; None where there is none."""
        try:
            return self.from_data({**_as_table(self), self.kind: [low, high]})
        except (DesignError, TypeError):
            return None

    def widen(self, side: Side) -> Wider | None:
        """The range with one end moved out; None where no next value can be guessed."""
        del side
        return None

    def narrow(self, low: float, high: float) -> Range | None:
        """The part between two positions, its ends in few digits, rounded outwards.

        None where nothing is left to search.
        """
        if self.ends is None:
            return None
        if self.bins is not None:
            first, last = self.value(low), self.value(high)
        else:
            first = self.ends[0] if low <= 0 else max(self.ends[0], _out(self.value(low), False))
            last = self.ends[1] if high >= 1 else min(self.ends[1], _out(self.value(high), True))
        return self.with_ends(first, last)  # type: ignore[arg-type]

    def hull(self, other: Range) -> Range:
        """The narrowest range of this kind that holds both; itself if the other is no such."""
        if type(other) is not type(self) or self.ends is None or other.ends is None:
            return self
        low, high = min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1])
        return self.with_ends(low, high) or self

    def covered(self, other: Range) -> float:
        """The share of this range that lies inside another one."""
        if other.choices is not None or self.ends is None or other.ends is None:
            return 1.0
        low, high = max(self.ends[0], other.ends[0]), min(self.ends[1], other.ends[1])
        if low > high:
            return 0.0
        if self.count is None:
            return self.unit(high) - self.unit(low)
        first, last = self.place(low), self.place(high)
        return 1.0 if first is None or last is None else min(last - first + 1 / self.count, 1.0)

    def around(
        self, value: Value, *, factor: float | None = None, width: float | None = None
    ) -> Self:
        """The same range, with a belief that the best value lies around this one.

        On a log scale, `factor=3` believes it to be within a factor of 3 two times of three; on a
        linear one, `width=0.05` within 0.05. In a list, `factor=3` believes the value to be three
        times as likely the best as each other one. A Bayesian search starts there; the belief fades
        with every trial, and is dropped when the trials contradict it. Ranges made from this one
        (wider, narrower) have no belief.

        >>> from tunewright.design.ranges import log
        >>> print(log(1e-5, 1).around(3e-4, factor=3))
        log(1e-05, 1).around(0.0003, factor=3)
        """
        return believed(self, value, factor, width)

    def near(self, value: float) -> Range | None:
        """A range near a value: half a decade either way on a log scale, else a quarter of it."""
        if self.ends is None:
            return None
        if self.scale == "log":
            return self.with_ends(in_digits(value / HALF_DECADE), in_digits(value * HALF_DECADE))
        if self.scale == "log_from_one":
            low, high = 1 - (1 - value) * HALF_DECADE, 1 - (1 - value) / HALF_DECADE
            return self.with_ends(max(in_digits(low, 4), 0.0), in_digits(high, 4))
        reach = (self.ends[1] - self.ends[0]) / 4
        low, high = max(self.ends[0], value - reach), min(self.ends[1], value + reach)
        return self.with_ends(in_digits(low, 4), in_digits(high, 4)) if high > low else None

    def ticks(self) -> Sequence[Value]:
        """A few round values for an axis."""
        if self.bins is not None and self.bins.count <= MOST_SHOWN:
            return thinned([self.value(middle) for middle in self.bins.middles()], MOST_TICKS)
        if self.ends is None:
            return ()
        low, high = self.ends
        if self.scale == "log_from_one":
            found = sorted(round(1 - gap, 12) for gap in logarithmic(1 - high, 1 - low))
        else:
            found = (logarithmic if self.scale == "log" else evenly)(float(low), float(high))
        inside = [x for x in found if low <= x <= high]
        if self.bins is None:
            return inside
        near = (self.place(x) for x in inside)
        whole = [self.value(min(max(at, 0.0), 1.0)) for at in near if at is not None]
        return list(dict.fromkeys(whole)) or [self.value(0.0), self.value(1.0)]

    def to_data(self) -> Any:
        """Plain data, as a round file writes it."""
        return {self.kind: list(self.ends or ())}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The range that plain data means: its two ends under the name of the kind."""
        bounds = data[cls.kind]
        if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
            raise DesignError("declaration.not_two_bounds", kind=cls.kind, bounds=bounds)
        make: Any = cls
        made: Self = make(*bounds)
        return made

    @classmethod
    def guess(cls, values: Sequence[Value]) -> Self | None:
        """The range of this kind that different values seem to be drawn from; None: another kind.

        Importers ask every registered kind, for records without declared ranges.
        """
        del values
        return None

    @property
    def call(self) -> str:
        """How Python writes it."""
        ours = type(self).__module__.startswith("tunewright.")
        if not ours:
            return f"{self!r}{self.belief or ''}"
        return f"tw.{self}" if self.kind in AT_THE_TOP else f"tw.ranges.{self}"

    @property
    def text(self) -> str:
        """The name of the kind with the ends: the range without its belief."""
        return f"{self.kind}({', '.join(map(short, self.ends or ()))})"

    def __str__(self) -> str:
        """The range, and the belief about it."""
        return f"{self.text}{self.belief or ''}"


def _as_table(own: Range) -> dict[str, Any]:
    data = own.to_data()
    return dict(data) if isinstance(data, Mapping) else {}


def _out(value: Value, up: bool) -> float:
    return outwards(float(value), up)  # type: ignore[arg-type]
