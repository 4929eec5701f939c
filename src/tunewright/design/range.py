"""The Range protocol, values and round numbers: what the rest needs to know of a kind of range.

A kind subclasses `Range` and defines `kind`, `value` and `unit`; one with the fields `low` and
`high` inherits everything else. `register` makes it known by its name, so that round files, the
store and the importers can read it; `tunewright.testing.check_range` is the contract test.

A belief changes no range: every value stays possible, quasi-random search covers the range evenly,
and a Bayesian search starts near the value and drops the belief when the trials contradict it.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeGuard, TypeVar

from tunewright.errors import DesignError

Value = bool | int | float | str | None

# beyond it a float (and JSON in other languages) cannot separate neighbours
LARGEST_INTEGER = 2**53
T = TypeVar("T")
MOST_TICKS = 6  # on one axis; more would touch each other
KEYS = ("around", "factor", "width")  # of a table in a round file, beside the range's own
R = TypeVar("R", bound="Range")
Side = Literal["low", "high"]
Scale = Literal["linear", "log", "log_from_one"]
HALF_DECADE = 10**0.5
_AT_THE_TOP = ("choice", "integers", "linear", "log")  # kinds that `tunewright` itself names
MOST_SHOWN = 2 * MOST_TICKS  # values of a list that an axis shows


def as_plain(value: Any) -> Any:
    """A scalar of numpy or torch as Python's own number; anything else as it is."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()
    return value


def same_value(a: Value, b: Value) -> bool:
    """Equality that distinguishes True from 1 and, unlike `is`, takes 1 and 1.0 for one number."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def is_number(x: Any) -> TypeGuard[int | float]:
    """Whether it is a finite number that a float can hold.

    >>> is_number(3), is_number(True), is_number(10**400), is_number(float("nan"))
    (True, False, False, False)
    """
    if isinstance(x, bool) or not isinstance(x, int | float):
        return False
    try:
        return math.isfinite(x)
    except OverflowError:  # a whole number beyond every float
        return False


def as_number(value: Any) -> float | None:
    """A value as a number; None for text, True and False, and what is not finite."""
    return float(value) if is_number(value) else None


def short(x: Value) -> str:
    """A value for readers, as short as it can be without losing a digit.

    >>> short(0.00001), short(0.30000000000000004), short("adam")
    ('1e-05', '0.30000000000000004', "'adam'")
    """
    if isinstance(x, float) and float(f"{x:g}") == x:
        return f"{x:g}"
    return repr(x)


def check_plain(value: Any, where: str) -> None:
    """Refuse a value that a configuration could not carry to a program or a record."""
    if not isinstance(value, bool | int | float | str | None):
        raise DesignError("value.not_plain", place=where, value=value, type=type(value).__name__)
    if isinstance(value, float) and not math.isfinite(value):
        raise DesignError("value.not_finite", place=where, value=value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_INTEGER:
        raise DesignError("value.beyond_integers", place=where, value=value)
    if isinstance(value, str) and not is_storable(value):
        raise DesignError("value.unstorable", place=where, value=value)


def is_storable(text: str) -> bool:
    """Whether every program and record can hold this text: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


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
    steps = [min(max(k * step, low), high) for k in range(first, last + 1)]
    return [float(f"{x:.12g}") for x in steps if low <= float(f"{x:.12g}") <= high] or [low, high]


def logarithmic(low: float, high: float) -> list[float]:
    """Powers of ten between the ends; with 2 and 5 between them where they are few.

    >>> logarithmic(1e-3, 0.5)
    [0.001, 0.01, 0.1]
    """
    slack = 1e-9
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for mantissas in ((1, 2, 5), (1,)):
        powers = [
            float(f"{m}e{exponent}")
            for exponent in range(first, last + 1)
            for m in mantissas
            if low * (1 - slack) <= float(f"{m}e{exponent}") <= high * (1 + slack)
        ]
        if len(powers) <= MOST_TICKS:
            break
    else:
        powers = list(thin(powers, MOST_TICKS))
    kept = [min(max(x, low), high) for x in powers]
    return kept if len(kept) >= 2 else evenly(low, high)


def thin(values: Sequence[T], most: int) -> Sequence[T]:
    """Every second, third, ... of the values, so that at most so many are left."""
    return values[:: -(-len(values) // most)]


@dataclass(frozen=True)
class Belief:
    """The best value is probably this one, or as near as `factor` or `width`.

    `factor`: one standard deviation on a log scale, or how many times as likely as every other
    value of a list. `width`: one standard deviation on a linear scale, in the range's own units.
    """

    value: Value
    factor: float | None = None
    width: float | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it next to the range.

        >>> Belief(3e-4, factor=3.0).to_data()
        {'around': 0.0003, 'factor': 3.0}
        """
        around = {"none": True} if self.value is None else self.value
        far = {"factor": self.factor, "width": self.width}
        return {"around": around, **{key: x for key, x in far.items() if x is not None}}

    def __str__(self) -> str:
        far = f"factor={short(self.factor)}" if self.width is None else f"width={short(self.width)}"
        return f".around({short(self.value)}, {far})"


def with_belief(searched: R, value: Value, factor: float | None, width: float | None) -> R:
    """The range with a belief; a DesignError where it makes no sense for this kind of range."""
    value = as_plain(value)
    if not searched.contains(value):
        raise DesignError("belief.outside", value=value, range=searched)
    if searched.count is not None:
        value = searched.value(searched.unit(value))  # 3.0 among whole numbers is 3
    wanted, given = ("width", width) if has_width(searched) else ("factor", factor)
    other = factor if wanted == "width" else width
    if given is None or other is not None:
        raise DesignError("belief.other_unit", range=searched, value=value, wanted=wanted)
    given = as_plain(given)
    least = 0.0 if wanted == "width" else 1.0
    if not is_number(given) or not given > least:
        raise DesignError(
            "belief.bad_size", range=searched, wanted=wanted, given=given, least=least
        )
    copied = copy.copy(searched)
    object.__setattr__(copied, "belief", Belief(value, **{wanted: float(given)}))  # a frozen copy
    return copied


def has_width(searched: Range) -> bool:
    """Whether a belief is off by a difference; by a factor on a log scale and in a list."""
    return is_measured(searched) and searched.scale == "linear"


def is_measured(searched: Range) -> bool:
    """Whether neighbours are alike, so that a value next to a good one is good too."""
    return searched.ordered and searched.choices is None


def read_belief(searched: R, data: Mapping[str, Any]) -> R:
    """The range with the belief that the keys of a round file mean, if there are any."""
    given = {key: data[key] for key in KEYS if key in data}
    if not given:
        return searched
    if "around" not in given:
        raise DesignError("belief.no_value", range=searched, keys=list(given))
    value = None if given["around"] == {"none": True} else given["around"]
    return with_belief(searched, value, given.get("factor"), given.get("width"))


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
        return (low, high) if is_number(low) and is_number(high) else None

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
        return with_belief(self, value, factor, width)

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
            return thin([self.value(middle) for middle in self.bins.middles()], MOST_TICKS)
        if self.ends is None:
            return ()
        low, high = self.ends
        if self.scale == "log_from_one":
            marks = sorted(round(1 - gap, 12) for gap in logarithmic(1 - high, 1 - low))
        else:
            marks = (logarithmic if self.scale == "log" else evenly)(float(low), float(high))
        inside = [x for x in marks if low <= x <= high]
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
        searched: Self = make(*bounds)
        return searched

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
        return f"tw.{self}" if self.kind in _AT_THE_TOP else f"tw.ranges.{self}"

    @property
    def text(self) -> str:
        """The name of the kind with the ends: the range without its belief."""
        return f"{self.kind}({', '.join(map(short, self.ends or ()))})"

    def __str__(self) -> str:
        """The range, and the belief about it."""
        return f"{self.text}{self.belief or ''}"


def _as_table(searched: Range) -> dict[str, Any]:
    data = searched.to_data()
    return dict(data) if isinstance(data, Mapping) else {}


def _out(value: Value, up: bool) -> float:
    return outwards(float(value), up)  # type: ignore[arg-type]
