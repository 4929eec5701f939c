"""Ranges: what a hyperparameter may be, on the scale it is searched on.

Every range maps the unit interval to values and back. `value(unit(v)) == v` holds exactly for
every value a range can produce, so a trial can be moved between spaces without drifting.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.errors import DesignError

Value = bool | int | float | str | None
# beyond it a float (and JSON in other languages) cannot tell neighbours apart
LARGEST_INTEGER = 2**53


@dataclass(frozen=True)
class Linear:
    """Uniform between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _settle_bounds(self, "linear")

    def value(self, unit: float) -> float:
        """The value at this position."""
        return _between(self, unit, lambda: self.low + unit * (self.high - self.low))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        return _invert(self.value, (x - self.low) / (self.high - self.low), x)

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {"linear": [self.low, self.high]}

    def __str__(self) -> str:
        return f"linear({short(self.low)}, {short(self.high)})"


@dataclass(frozen=True)
class Log:
    """Uniform in the logarithm between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _settle_bounds(self, "log")
        if self.low <= 0:
            raise DesignError("range.log_from_zero", range=self)
        _check_spread(self, math.log(self.low), math.log(self.high))

    def value(self, unit: float) -> float:
        """The value at this position."""
        # the difference of logarithms, since high / low may overflow
        low, high = math.log(self.low), math.log(self.high)
        return _between(self, unit, lambda: math.exp(low + unit * (high - low)))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        span = math.log(self.high) - math.log(self.low)
        return _invert(self.value, (math.log(x) - math.log(self.low)) / span, x)

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {"log": [self.low, self.high]}

    def __str__(self) -> str:
        return f"log({short(self.low)}, {short(self.high)})"


@dataclass(frozen=True)
class LogFromOne:
    """Uniform in the logarithm of 1 - x: on it 0.9 and 0.99 lie as far apart as 0.99 and 0.999."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _settle_bounds(self, "log_from_one")
        if self.high >= 1:
            raise DesignError("range.high_not_below_one", range=self)
        _check_spread(self, math.log1p(-self.high), math.log1p(-self.low))

    def value(self, unit: float) -> float:
        """The value at this position."""
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return _between(self, unit, lambda: -math.expm1(far + unit * (near - far)))

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return _invert(self.value, (math.log1p(-x) - far) / (near - far), x)

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {"log_from_one": [self.low, self.high]}

    def __str__(self) -> str:
        return f"log_from_one({short(self.low)}, {short(self.high)})"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included; on a log scale when `log`."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for bound in ("low", "high"):
            x = as_plain(getattr(self, bound))
            object.__setattr__(self, bound, x)
            if isinstance(x, bool) or not isinstance(x, int):
                raise DesignError("range.bound_not_whole", bound=bound, value=x)
            if abs(x) > LARGEST_INTEGER:
                raise DesignError("range.whole_bound_too_large", bound=bound, value=x)
        if not isinstance(self.log, bool):
            raise DesignError("range.bad_log_flag", log=self.log)
        _check_order("integers", self.low, self.high)
        if self.log and self.low <= 0:
            raise DesignError("range.log_integers_from_zero", range=self)
        if self.log:
            _check_spread(self, math.log(self.low), math.log(self.high + 1))

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
        x = _number(self, value)
        if x != int(x):
            raise DesignError("range.value_not_whole", value=value, range=self)
        if self.log:
            span = math.log(self.high + 1) - math.log(self.low)
            edges = (math.log(x) - math.log(self.low), math.log(x + 1) - math.log(self.low))
            middle = sum(edges) / 2 / span
        else:
            middle = (x - self.low + 0.5) / (self.high - self.low + 1)
        return _invert(self.value, middle, x)  # bins of a wide range are narrower than rounding

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it."""
        return {"integers": [self.low, self.high], **({"log": True} if self.log else {})}

    def __str__(self) -> str:
        return f"integers({self.low}, {self.high}{', log=True' if self.log else ''})"


@dataclass(frozen=True)
class Choice:
    """One of several values, in the order given."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(as_plain(v) for v in self.values))
        _check_choices(self.values)

    def value(self, unit: float) -> Value:
        """The value whose bin this position lies in."""
        count = len(self.values)
        return self.values[min(max(math.floor(unit * count), 0), count - 1)]

    def unit(self, value: Value) -> float:
        """The middle of this value's bin."""
        for position, own in enumerate(self.values):
            if same_value(own, value):
                return (position + 0.5) / len(self.values)
        raise DesignError("range.not_a_choice", value=value, values=list(self.values))

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, all growing or all falling: then edges mean something."""
        numbers = [v for v in self.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < len(self.values):
            return False
        pairs = list(itertools.pairwise(numbers))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)

    def to_data(self) -> list[Value]:
        """Plain data, as a round file writes it: the values."""
        return list(self.values)

    def __str__(self) -> str:
        return f"choice({', '.join(map(short, self.values))})"


Range = Linear | Log | LogFromOne | Integers | Choice


def linear(low: float, high: float) -> Linear:
    """Search uniformly between low and high."""
    return Linear(low, high)


def log(low: float, high: float) -> Log:
    """Search the logarithm uniformly: learning rates, weight decay."""
    return Log(low, high)


def log_from_one(low: float, high: float) -> LogFromOne:
    """Search 1 - x on a log scale: momentum, beta1, beta2.

    >>> round(log_from_one(0.9, 0.999).value(0.5), 4)
    0.99
    """
    return LogFromOne(low, high)


def integers(low: int, high: int, log: bool = False) -> Integers:
    """Search whole numbers, both ends included."""
    return Integers(low, high, log)


def choice(*values: Value) -> Choice:
    """Search one of several values; a plain list means the same."""
    return Choice(tuple(values))


def as_range(given: Any) -> Range | None:
    """The range a declaration means: a range itself, a list as a choice, None for a plain value."""
    if isinstance(given, Range):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return Choice(tuple(given))
    return None


def as_plain(value: Any) -> Any:
    """A scalar of numpy or torch as Python's own number; anything else as it is."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()
    return value


def same_value(a: Value, b: Value) -> bool:
    """Equality that tells True from 1 and, unlike `is`, takes 1 and 1.0 for one number."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def is_number(x: Any) -> bool:
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


def short(x: Value) -> str:
    """A value for people, as short as it can be without losing a digit.

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


def _check_choices(values: tuple[Value, ...]) -> None:
    if not values:
        raise DesignError("range.no_choices")
    seen: set[tuple[bool, Value]] = set()
    for position, value in enumerate(values):
        check_plain(value, f"choice(): value {position + 1}")
        key = (isinstance(value, bool), value)  # tells True from 1, as same_value does
        if key in seen:
            raise DesignError("range.choice_twice", value=value)
        seen.add(key)


def _settle_bounds(own: Linear | Log | LogFromOne, kind: str) -> None:
    """Check the bounds of a range of fractions, and make floats of them."""
    for bound in ("low", "high"):
        x = as_plain(getattr(own, bound))
        if isinstance(x, bool) or not isinstance(x, int | float):
            raise DesignError("range.bound_not_number", kind=kind, bound=bound, value=x)
        if isinstance(x, int) and abs(x) > LARGEST_INTEGER:
            raise DesignError("range.bound_too_large", kind=kind, bound=bound, value=x)
        if not math.isfinite(x):
            raise DesignError("range.bound_not_finite", kind=kind, bound=bound, value=x)
        object.__setattr__(own, bound, float(x))
    _check_order(kind, own.low, own.high)
    if math.isinf(own.high - own.low):
        raise DesignError("range.too_wide", range=own)


def _check_order(kind: str, low: float, high: float) -> None:
    low_text, high_text = short(low), short(high)
    if low == high:
        raise DesignError("range.low_equals_high", kind=kind, low=low_text, high=high_text)
    if low > high:
        raise DesignError("range.low_above_high", kind=kind, low=low_text, high=high_text)


def _check_spread(own: Log | LogFromOne | Integers, low: float, high: float) -> None:
    if low == high:
        raise DesignError("range.same_logarithm", range=own)


def _number(own: Linear | Log | LogFromOne | Integers, value: Value) -> float:
    value = as_plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError("range.value_not_number", value=value, range=own)
    if not own.low <= value <= own.high:
        raise DesignError("range.value_outside", value=value, range=own)
    return value


def _between(own: Linear | Log | LogFromOne, unit: float, inside: Callable[[], float]) -> float:
    """The ends exactly at 0 and 1, and between them never beyond by a rounding."""
    if unit <= 0.0:
        return own.low
    if unit >= 1.0:
        return own.high
    return min(max(inside(), own.low), own.high)


def _invert(value: Callable[[float], float], guess: float, x: float) -> float:
    """A position whose value is exactly x where rounding allows one, else the nearest."""
    guess = min(max(guess, 0.0), 1.0)
    if value(guess) == x:
        return guess
    low, high, width = guess, guess, 1e-15
    while value(low) > x or value(high) < x:  # values grow with the position
        low, high, width = max(guess - width, 0.0), min(guess + width, 1.0), width * 100
    while low < (middle := (low + high) / 2) < high:
        if value(middle) < x:
            low = middle
        else:
            high = middle
    return min((high, low), key=lambda position: abs(value(position) - x))
