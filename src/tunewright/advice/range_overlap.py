"""Ranges beside each other: how much of one the other is, and the one that holds both."""

from __future__ import annotations

from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
)


def hull(one: Range, other: Range) -> Range:
    """The narrowest range of their kind that holds both."""
    if type(one) is not type(other) or isinstance(one, Choice) or isinstance(other, Choice):
        return one
    return _like(one, min(one.low, other.low), max(one.high, other.high))


def share(old: Range, new: Range) -> float:
    """How much of a wider range the old one is.

    >>> round(share(Log(1e-4, 1e-1), Log(1e-4, 1.0)), 3), share(Integers(1, 4), Integers(1, 6))
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

    >>> str(reaching(Log(1e-4, 0.1), Log(1e-4, 1.0), Log(0.01, 0.1)))
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
