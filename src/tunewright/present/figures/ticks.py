"""Where a range's ticks stand: round values at their positions on the scale that is searched."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunewright.design.ranges import Range, Value

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

    >>> from tunewright.design.ranges import log, log_from_one
    >>> [tick.label for tick in ticks(log(1e-4, 1e-1))]
    ['1e-4', '0.001', '0.01', '0.1']
    >>> [tick.label for tick in ticks(log_from_one(0.8, 0.999))]
    ['0.9', '0.99', '0.999']
    """
    return tuple(Tick(searched.unit(value), label(value)) for value in searched.ticks())
