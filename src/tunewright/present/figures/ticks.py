"""Where a range's ticks stand: round values at their positions on the scale that is searched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tunewright.design.ranges import Log, Range, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    name = printable(text)
    if len(name) <= longest:
        return name
    first = longest // 3  # names that differ mostly do so at their end
    return f"{name[:first]}…{name[first + 1 - longest :]}"


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


# ---- which values an axis can show, whether it is logarithmic, and where its ticks stand


_WIDE = 20.0  # highest over lowest value from which an axis is logarithmic
LARGEST = 1e100  # values beyond it stand at the margin: differences of them overflow
# times the distance of the median from the best: where any value lies further than FAR, those up
# to NEAR are drawn in their place and the rest at the margin
FAR, NEAR = 6.0, 4.0
_SMALLEST = 1e-100  # values below it are drawn as zero

Floats = npt.NDArray[np.float64]


def drawable(values: npt.ArrayLike) -> Floats:
    """The values as an axis can show them: NaN where one is too large, zero where too small.

    >>> drawable([0.5, 1e308, -1e308, 5e-324, np.inf]).tolist()
    [0.5, nan, nan, 0.0, nan]
    """
    floats = np.array(values, dtype=float).reshape(-1)
    with np.errstate(invalid="ignore"):
        size = np.abs(floats)
    floats[~(size <= LARGEST)] = np.nan
    floats[size < _SMALLEST] = 0.0
    return floats


def _finite(values: npt.ArrayLike) -> Floats:
    """The values that an axis can show."""
    floats = drawable(values)
    return floats[np.isfinite(floats)]


def extent(values: npt.ArrayLike) -> tuple[float, float]:
    """The lowest and the highest value that can be shown, never equal.

    >>> extent([1.0, 3.0, 1e308]), extent([]), extent([2.0])
    ((1.0, 3.0), (0.0, 1.0), (1.0, 3.0))
    """
    finite = _finite(values)
    if not len(finite):
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    room = 0.5 * abs(low) or 1.0
    return low - room, high + room


def set_scale(
    axes: Axes, which: Literal["x", "y"], values: npt.ArrayLike, wide: float = _WIDE
) -> bool:
    """Make an axis logarithmic for positive values that lie far apart; whether it was made so."""
    finite = _finite(values)
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not is_wide(finite, wide):
        axis.set_major_formatter(on_axis)
        return False
    low, high = float(finite.min()), float(finite.max())
    scale = Log(low, high)
    marks = ticks(scale)
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_ticks([scale.value(tick.position) for tick in marks], [t.label for t in marks])
    axis.set_ticks([], minor=True)
    room = (high / low) ** 0.05
    (axes.set_xlim if which == "x" else axes.set_ylim)(low / room, high * room)
    return True


def is_wide(values: Floats, wide: float = _WIDE) -> bool:
    """Whether values are better seen by their logarithm.

    >>> is_wide(np.array([0.1, 3.0])), is_wide(np.array([0.1, 1.0])), is_wide(np.array([0.0, 9.0]))
    (True, False, False)
    """
    return bool(len(values) and values.min() > 0 and values.max() / wide > values.min())
