"""Which range to search next when the best lies at an end of this one?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tunewright.design.names import Meaning
from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
    is_number,
)

# meanings whose values cannot pass 1
BELOW_ONE = ("momentum", "beta1", "beta2")


@dataclass(frozen=True)
class Wider:
    """A range that reaches further at one end, and how many times as wide it is."""

    range: Range
    times: float


def wider(searched: Range, side: Literal["low", "high"]) -> Wider | None:
    """The range with one end moved out: by a decade on a log scale, else by half its width.

    A list has no next value that could be guessed: None.

    >>> str(wider(Log(1e-4, 1e-1), "high").range), str(wider(LogFromOne(0.9, 0.99), "high").range)
    ('log(0.0001, 1)', 'log_from_one(0.9, 0.999)')
    >>> str(wider(Linear(0.0, 0.4), "high").range), str(wider(Integers(1, 4), "high").range)
    ('linear(0, 0.6)', 'integers(1, 6)')
    """
    if isinstance(searched, Choice):
        return None
    low, high = searched.low, searched.high
    if isinstance(searched, Log):
        made: Range = Log(_short(low / 10), high) if side == "low" else Log(low, _short(high * 10))
        return Wider(made, 1 + 1 / math.log10(high / low))
    if isinstance(searched, LogFromOne):
        decades = math.log10((1 - low) / (1 - high))
        if side == "low":
            return Wider(LogFromOne(_short(max(0.0, 1 - (1 - low) * 10)), high), 1 + 1 / decades)
        return Wider(LogFromOne(low, _short(1 - (1 - high) / 10)), 1 + 1 / decades)
    if isinstance(searched, Integers):
        grown = _wider_integers(searched, side)
        return Wider(grown, (grown.high - grown.low + 1) / (high - low + 1))
    width = (high - low) / 2
    made = Linear(low - width, high) if side == "low" else Linear(low, _short(high + width))
    return Wider(made, 1.5)


def _wider_integers(searched: Integers, side: Literal["low", "high"]) -> Integers:
    low, high = searched.low, searched.high
    if searched.log:
        return (
            Integers(max(1, low // 2), high, True)
            if side == "low"
            else Integers(low, 2 * high, True)
        )
    step = math.ceil((high - low) / 2)
    return Integers(low - step, high) if side == "low" else Integers(low, high + step)


@dataclass(frozen=True)
class NaturalBound:
    """A value that no other can pass."""

    value: float
    off: bool = False  # whether the hyperparameter is switched off there


def natural_bound(
    name: str, searched: Range, side: Literal["low", "high"], meaning: Meaning
) -> NaturalBound | None:
    """The bound no value can pass, when this end of the range lies at it.

    >>> natural_bound("dropout", Linear(0.0, 0.5), "low", Meaning())
    NaturalBound(value=0.0, off=True)
    """
    at = (min if side == "low" else max)(_ends(searched), default=math.nan)
    off = meaning.off_by_name.get(name)
    if is_number(off) and float(off) == at:  # type: ignore[arg-type]
        return NaturalBound(at, off=True)
    if side == "low" and at == 0:
        return NaturalBound(0.0, off=name in meaning.regularisers)
    unit_like = meaning.of(name) in BELOW_ONE or name in meaning.regularisers
    if side == "high" and at == 1 and unit_like:
        return NaturalBound(1.0)
    return None


def _ends(searched: Range) -> list[float]:
    if isinstance(searched, Choice):
        return [float(v) for v in searched.values if is_number(v)]  # type: ignore[arg-type]
    return [float(searched.low), float(searched.high)]


def _short(x: float) -> float:
    """A number without the dust of arithmetic."""
    near = float(f"{x:.12g}")
    return 0.0 if abs(near) < 1e-15 else near
