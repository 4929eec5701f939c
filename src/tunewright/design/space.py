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
LARGEST_INTEGER = (
    2**53
)  # beyond it a float (and JSON in other languages) cannot tell neighbours apart


@dataclass(frozen=True)
class Linear:
    """Uniform between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_bounds("linear", self.low, self.high)

    def value(self, unit: float) -> float:
        """The value at this position."""
        return min(max(self.low + unit * (self.high - self.low), self.low), self.high)

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        return _invert(self.value, (x - self.low) / (self.high - self.low), x)

    def __str__(self) -> str:
        return f"linear({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Log:
    """Uniform in the logarithm between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_bounds("log", self.low, self.high)
        if self.low <= 0:
            raise DesignError(
                f"log({self.low:g}, {self.high:g}): a log range needs 0 < low < high. For a range "
                "that touches zero use linear(), or search 1 - x with log_from_one()."
            )

    def value(self, unit: float) -> float:
        """The value at this position."""
        # the difference of logarithms, since high / low may overflow
        grown = math.exp(math.log(self.low) + unit * (math.log(self.high) - math.log(self.low)))
        return min(max(grown, self.low), self.high)

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        span = math.log(self.high) - math.log(self.low)
        return _invert(self.value, (math.log(x) - math.log(self.low)) / span, x)

    def __str__(self) -> str:
        return f"log({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class LogFromOne:
    """Uniform in the logarithm of 1 - x: on it 0.9 and 0.99 lie as far apart as 0.99 and 0.999."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_bounds("log_from_one", self.low, self.high)
        if self.high >= 1:
            raise DesignError(
                f"log_from_one({self.low:g}, {self.high:g}): it searches 1 - x on a log scale, so "
                "high must be below 1 (say 0.999)."
            )

    def value(self, unit: float) -> float:
        """The value at this position."""
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        x = -math.expm1(far + unit * (near - far))
        return min(max(x, self.low), self.high)

    def unit(self, value: Value) -> float:
        """The position of this value."""
        x = _number(self, value)
        far, near = math.log1p(-self.low), math.log1p(-self.high)
        return _invert(self.value, (math.log1p(-x) - far) / (near - far), x)

    def __str__(self) -> str:
        return f"log_from_one({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included; on a log scale when `log`."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for bound, x in (("low", self.low), ("high", self.high)):
            if isinstance(x, bool) or not isinstance(x, int):
                raise DesignError(
                    f"integers(): {bound} is {x!r}, not a whole number. For fractions use linear()."
                )
            if abs(x) > LARGEST_INTEGER:
                raise DesignError(
                    f"integers(): {bound} is {x}, beyond 2**53, where neighbours can no longer be "
                    "told apart. Search its logarithm instead: integers(low, high) of the exponent."
                )
        _check_order("integers", self.low, self.high)
        if self.log and self.low <= 0:
            raise DesignError(
                f"integers({self.low}, {self.high}, log=True): a log range needs 0 < low < high."
            )

    def value(self, unit: float) -> int:
        """The whole number whose bin this position lies in."""
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
            raise DesignError(f"{value!r} is not a whole number of {self}")
        if self.log:
            span = math.log(self.high + 1) - math.log(self.low)
            edges = (math.log(x) - math.log(self.low), math.log(x + 1) - math.log(self.low))
            return sum(edges) / 2 / span
        return (x - self.low + 0.5) / (self.high - self.low + 1)

    def __str__(self) -> str:
        return f"integers({self.low}, {self.high}{', log=True' if self.log else ''})"


@dataclass(frozen=True)
class Choice:
    """One of several values, in the order given."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
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
        raise DesignError(f"{value!r} is not one of {list(self.values)}")

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, all growing or all falling: then edges mean something."""
        numbers = [v for v in self.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < len(self.values):
            return False
        pairs = list(itertools.pairwise(numbers))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)

    def __str__(self) -> str:
        return f"choice({', '.join(repr(v) for v in self.values)})"


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


def same_value(a: Value, b: Value) -> bool:
    """Equality that tells True from 1 and, unlike `is`, takes 1 and 1.0 for one number."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def check_plain(value: Any, where: str) -> None:
    """Refuse a value that a configuration could not carry to a program or a record."""
    if not isinstance(value, bool | int | float | str | None):
        raise DesignError(
            f"{where}: {value!r} is a {type(value).__name__}. Values are numbers, text, True, "
            "False or None, so that any program and record can hold them; give it a name and look "
            "the object up in the training function."
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise DesignError(f"{where}: {value} is not a finite number.")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_INTEGER:
        raise DesignError(f"{where}: {value} is beyond 2**53; give it as text or as a logarithm.")


def _check_choices(values: tuple[Value, ...]) -> None:
    if not values:
        raise DesignError("choice(): no values. Name at least one, or leave the name out.")
    for position, value in enumerate(values):
        check_plain(value, f"choice(): value {position + 1}")
        for earlier in values[:position]:
            if same_value(earlier, value):
                raise DesignError(f"choice(): {value!r} is listed twice; each value stands once.")


def _check_bounds(kind: str, low: Any, high: Any) -> None:
    for bound, x in (("low", low), ("high", high)):
        if isinstance(x, bool) or not isinstance(x, int | float):
            raise DesignError(f"{kind}(): {bound} is {x!r}, not a number.")
        if isinstance(x, int) and abs(x) > LARGEST_INTEGER:
            raise DesignError(f"{kind}(): {bound} is {x}, beyond 2**53; write it as a float.")
        if not math.isfinite(x):
            raise DesignError(f"{kind}(): {bound} is {x}; bounds must be finite numbers.")
    _check_order(kind, low, high)
    if math.isinf(high - low):
        raise DesignError(f"{kind}({low:g}, {high:g}): the range is too wide for a float.")


def _check_order(kind: str, low: float, high: float) -> None:
    if low == high:
        raise DesignError(
            f"{kind}({low}, {high}): low equals high, so there is nothing to search. "
            f"Put the value {low} into fixed= instead."
        )
    if low > high:
        raise DesignError(
            f"{kind}({low}, {high}): low is above high; did you mean ({high}, {low})?"
        )


def _number(own: Linear | Log | LogFromOne | Integers, value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError(f"{value!r} is not a number of {own}")
    if not own.low <= value <= own.high:
        raise DesignError(f"{value!r} lies outside {own}")
    return value


def _invert(value: Callable[[float], float], guess: float, x: float) -> float:
    """The position whose value is exactly x where rounding allows one, else the nearest below."""
    guess = min(max(guess, 0.0), 1.0)
    if value(guess) == x:
        return guess
    low, high = max(guess - 1e-9, 0.0), min(guess + 1e-9, 1.0)
    while low < (middle := (low + high) / 2) < high:  # values grow with the position
        if value(middle) < x:
            low = middle
        else:
            high = middle
    return high if value(high) == x else low
