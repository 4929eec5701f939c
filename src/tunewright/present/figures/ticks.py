"""Where a range's ticks stand: round values at their positions on the scale that is searched."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tunewright.design.ranges import Choice, Integers, Log, LogFromOne, Range, Value

MOST = 6  # ticks on one axis; more would touch each other
LONGEST = 14  # characters of a label


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    position: float  # in the unit interval
    label: str


def number(x: float) -> str:
    """A number as short as four significant digits allow.

    >>> [number(x) for x in (1e-05, 0.00027, 0.25, 3.0, 20000.0, 0.12345678)]
    ['1e-5', '2.7e-4', '0.25', '3', '2e4', '0.1235']
    """
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    if 1e-3 <= abs(x) < 1e4:
        return f"{x:.4g}"
    mantissa, exponent = f"{x:.3e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def label(value: Value) -> str:
    """A hyperparameter's value on an axis or in a legend."""
    if isinstance(value, float):
        return number(value)
    return label_of(str(value), LONGEST)


def label_of(text: str, longest: int = 40) -> str:
    """A name on a figure: printable, and no longer than there is room for.

    >>> label_of("optimizer.adam.learning_rate", 16)
    'optim…rning_rate'
    """
    shown = printable(text)
    if len(shown) <= longest:
        return shown
    first = longest // 3  # names that differ mostly do so at their end
    return f"{shown[:first]}…{shown[first + 1 - longest :]}"


def printable(text: str) -> str:
    """Text without control signs, which no page or screen should be sent."""
    return "".join(c if c.isprintable() else "?" for c in text)


def on_axis(value: float, position: float | None = None) -> str:
    """The label of a tick that matplotlib placed."""
    del position
    return number(float(f"{value:.6g}"))


def ticks(searched: Range) -> tuple[Tick, ...]:
    """A few round values of a range, at their positions.

    >>> [tick.label for tick in ticks(Log(1e-4, 1e-1))]
    ['1e-4', '0.001', '0.01', '0.1']
    >>> [tick.label for tick in ticks(LogFromOne(0.8, 0.999))]
    ['0.9', '0.99', '0.999']
    """
    if isinstance(searched, Choice):
        every = -(-len(searched.values) // (2 * MOST))
        values: Iterable[Value] = searched.values[::every]
    elif isinstance(searched, Integers):
        wanted = _logarithmic if searched.log else _evenly
        found = wanted(float(searched.low), float(searched.high))
        whole = sorted({round(x) for x in found if searched.low <= round(x) <= searched.high})
        values = whole or [searched.low, searched.high]
    elif isinstance(searched, Log):
        values = _logarithmic(searched.low, searched.high)
    elif isinstance(searched, LogFromOne):
        gaps = _logarithmic(1 - searched.high, 1 - searched.low)
        rounded = sorted(round(1 - gap, 12) for gap in gaps)
        values = [x for x in rounded if searched.low <= x <= searched.high]
    else:
        values = _evenly(searched.low, searched.high)
    return tuple(Tick(searched.unit(value), label(value)) for value in values)


def _logarithmic(low: float, high: float) -> list[float]:
    """Powers of ten between the ends; with 2 and 5 between them where they are few."""
    slack = 1e-9
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for mantissas in ((1, 2, 5), (1,)):
        found = [
            float(f"{m}e{exponent}")
            for exponent in range(first, last + 1)
            for m in mantissas
            if low * (1 - slack) <= float(f"{m}e{exponent}") <= high * (1 + slack)
        ]
        if len(found) <= MOST:
            break
    else:
        found = found[:: -(-len(found) // MOST)]
    kept = [min(max(x, low), high) for x in found]
    return kept if len(kept) >= 2 else _evenly(low, high)


def _evenly(low: float, high: float) -> list[float]:
    """Round values at equal distances."""
    rough = (high - low) / (MOST - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    found = [min(max(k * step, low), high) for k in range(first, last + 1)]
    return [float(f"{x:.12g}") for x in found if low <= float(f"{x:.12g}") <= high] or [low, high]
