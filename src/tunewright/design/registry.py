"""The registry of kinds of ranges, by name, and the checked ends that kinds have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from tunewright.design import range
from tunewright.design.range import LARGEST_INTEGER, Range, Value, as_plain, short
from tunewright.errors import DesignError

_TAKEN = ("given", "none", *range.KEYS)  # words of a round file that are no kinds of ranges
K = TypeVar("K", bound=type[Range])
_KINDS: dict[str, type[Range]] = {}


def register(kind: K) -> K:
    """Make a kind of range known by its name; also usable as a decorator of the class.

    Defining the class again (as in a notebook) replaces it; the name of another class is refused.

    >>> import tunewright as tw
    >>> from tunewright.design.kinds.log import Log
    >>> tw.ranges.register(Log) is Log
    True

    Args:
        kind: a class that fulfils the protocol of `tw.protocols.Range`, with a name in `kind`.
    """
    name = getattr(kind, "kind", None)
    if not isinstance(kind, type) or not issubclass(kind, Range):
        raise DesignError("range.not_a_kind", given=kind)
    if not isinstance(name, str) or not name.isidentifier() or name in _TAKEN:
        raise DesignError("range.bad_kind_name", given=kind.__name__, name=name)
    known = _KINDS.get(name)
    if known is not None and _home(known) != _home(kind):
        raise DesignError("range.kind_taken", name=name, given=_home(kind), known=_home(known))
    _KINDS[name] = kind
    return kind


def kinds() -> Mapping[str, type[Range]]:
    """Every registered kind by its name.

    >>> import tunewright as tw
    >>> tw.ranges.kinds()["log"].__name__
    'Log'
    """
    return MappingProxyType(_KINDS)


def read(data: Mapping[str, Any]) -> Range | None:
    """The range that a table of a round file means; None where it names no kind.

    >>> from tunewright.design import ranges
    >>> str(read({"log": [0.1, 1]})), read({"learning_rate": 0.1})
    ('log(0.1, 1)', None)
    """
    named = [name for name in _KINDS if name in data]
    # `integers` has a flag `log`, which is no second range
    beside = {key for name in named for key in _KINDS[name].keys}
    kinds_here = [name for name in named if name not in beside] or named
    if not kinds_here:
        return None
    kind, *others = kinds_here
    allowed = {kind, *_KINDS[kind].keys, *range.KEYS}
    others += [key for key in data if key not in allowed and key not in others]
    if others:
        raise DesignError("declaration.two_kinds", others=others, kind=kind)
    alone = {key: given for key, given in data.items() if key not in range.KEYS}
    return range.read_belief(_KINDS[kind].from_data(alone), data)


def _home(kind: type[Range]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class Bounded(Protocol):
    """A range between two numbers."""

    @property
    def low(self) -> float:
        """The smallest value."""
        ...

    @property
    def high(self) -> float:
        """The largest value."""
        ...


def settle_bounds(bounded: Bounded, kind: str) -> None:
    """Check the ends of a range of fractions, and make floats of them."""
    for bound in ("low", "high"):
        x = as_plain(getattr(bounded, bound))
        if isinstance(x, bool) or not isinstance(x, int | float):
            raise DesignError("range.bound_not_number", kind=kind, bound=bound, value=x)
        if isinstance(x, int) and abs(x) > LARGEST_INTEGER:
            raise DesignError("range.bound_too_large", kind=kind, bound=bound, value=x)
        if not math.isfinite(x):
            raise DesignError("range.bound_not_finite", kind=kind, bound=bound, value=x)
        object.__setattr__(bounded, bound, float(x))
    check_order(kind, bounded.low, bounded.high)
    if math.isinf(bounded.high - bounded.low):
        raise DesignError("range.too_wide", range=bounded)


def settle_whole_bounds(bounded: Bounded, kind: str) -> None:
    """Check the ends of a range of whole numbers, and make Python's own numbers of them."""
    for bound in ("low", "high"):
        x = as_plain(getattr(bounded, bound))
        object.__setattr__(bounded, bound, x)
        if isinstance(x, bool) or not isinstance(x, int):
            raise DesignError("range.bound_not_whole", kind=kind, bound=bound, value=x)
        if abs(x) > LARGEST_INTEGER:
            raise DesignError("range.whole_bound_too_large", kind=kind, bound=bound, value=x)


def check_order(kind: str, low: float, high: float) -> None:
    """Refuse a low end that does not lie below the high one."""
    low_text, high_text = short(low), short(high)
    if low == high:
        raise DesignError("range.low_equals_high", kind=kind, low=low_text, high=high_text)
    if low > high:
        raise DesignError("range.low_above_high", kind=kind, low=low_text, high=high_text)


def check_spread(bounded: Bounded, low: float, high: float) -> None:
    """Refuse ends with one logarithm."""
    if low == high:
        raise DesignError("range.same_logarithm", range=bounded)


def number_in(bounded: Bounded, value: Value) -> float:
    """The value as a number of the range; a DesignError for any other."""
    value = as_plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError("range.value_not_number", value=value, range=bounded)
    if not bounded.low <= value <= bounded.high:
        raise DesignError("range.value_outside", value=value, range=bounded)
    return value


def between(bounded: Bounded, unit: float, inside: Callable[[], float]) -> float:
    """The ends exactly at 0 and 1, and between them never beyond by a rounding."""
    if unit <= 0.0:
        return bounded.low
    if unit >= 1.0:
        return bounded.high
    return min(max(inside(), bounded.low), bounded.high)


def invert(value: Callable[[float], float], guess: float, x: float) -> float:
    """A position whose value is exactly x where rounding allows one, else the nearest.

    >>> invert(lambda unit: 2 * unit, 0.3, 0.5)
    0.25
    """
    guess = min(max(guess, 0.0), 1.0)
    if value(guess) == x:
        return guess
    low, high, width = guess, guess, 1e-15
    # values grow with the position
    while (value(low) > x or value(high) < x) and (low > 0.0 or high < 1.0):
        low, high, width = max(guess - width, 0.0), min(guess + width, 1.0), width * 100
    while low < (middle := (low + high) / 2) < high:
        if value(middle) < x:
            low = middle
        else:
            high = middle
    return min((high, low), key=lambda position: abs(value(position) - x))
