"""Ranges beside each other: how much of one the other is, and the one that holds both."""

from __future__ import annotations

import re
from typing import Any

from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
    integers,
    linear,
    log,
    log_from_one,
)

_WRITTEN = re.compile(r"(\w+)\(([^,]+), ([^,]+?)(, log=True)?\)")


def written_range(text: str) -> Range | None:
    """A range as `str` writes it.

    >>> str(written_range("integers(1, 64, log=True)")), written_range("choice(1, 2)")
    ('integers(1, 64, log=True)', None)
    """
    read = _WRITTEN.fullmatch(text)
    if read is None:
        return None
    kind, low, high, log_scale = read.groups()
    try:
        if kind == "integers":
            return integers(int(low), int(high), log=bool(log_scale))
        makes: dict[str, Any] = {"linear": linear, "log": log, "log_from_one": log_from_one}
        return makes[kind](float(low), float(high)) if kind in makes else None
    except ValueError:
        return None


def hull(one: Range, other: Range) -> Range:
    """The narrowest range of their kind that holds both."""
    if type(one) is not type(other) or isinstance(one, Choice) or isinstance(other, Choice):
        return one
    return _like(one, min(one.low, other.low), max(one.high, other.high))


def share(old: Range, new: Range) -> float:
    """How much of a wider range the old one is.

    >>> round(share(log(1e-4, 1e-1), log(1e-4, 1.0)), 3), share(integers(1, 4), integers(1, 6))
    (0.75, 0.6666666666666666)
    """
    if isinstance(old, Choice) or isinstance(new, Choice):
        return 1.0
    if isinstance(new, Integers):
        return (old.high - old.low + 1) / (new.high - new.low + 1)
    low, high = max(old.low, new.low), min(old.high, new.high)
    return new.unit(high) - new.unit(low)


def reaching(old: Range, wide: Range, best: Range) -> Range:
    """The part of a widened range from where the best of the old one lie to the new end.

    >>> str(reaching(log(1e-4, 0.1), log(1e-4, 1.0), log(0.01, 0.1)))
    'log(0.01, 1)'
    """
    if isinstance(old, Choice) or isinstance(wide, Choice) or isinstance(best, Choice):
        return wide
    low = wide.low if wide.low < old.low else best.low
    high = wide.high if wide.high > old.high else best.high
    return _like(wide, low, high)


def _like(kind: Linear | Log | LogFromOne | Integers, low: float, high: float) -> Range:
    if isinstance(kind, Integers):
        return Integers(int(low), int(high), kind.log)
    if isinstance(kind, Linear):
        return Linear(low, high)
    return Log(low, high) if isinstance(kind, Log) else LogFromOne(low, high)
