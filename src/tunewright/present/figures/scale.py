"""Which values an axis can show, whether it is logarithmic, and where its ticks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tunewright.design.ranges import Log
from tunewright.present.figures.ticks import on_axis, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 20.0  # highest over lowest value from which an axis is logarithmic
LARGEST = 1e100  # values beyond it stand at the margin: differences of them overflow
SMALLEST = 1e-100  # values below it are drawn as zero

Floats = npt.NDArray[np.float64]


def drawable(values: npt.ArrayLike) -> Floats:
    """The values as an axis can show them: NaN where one is too large, zero where too small.

    >>> drawable([0.5, 1e308, -1e308, 5e-324, np.inf]).tolist()
    [0.5, nan, nan, 0.0, nan]
    """
    shown = np.array(values, dtype=float).reshape(-1)
    with np.errstate(invalid="ignore"):
        size = np.abs(shown)
    shown[~(size <= LARGEST)] = np.nan
    shown[size < SMALLEST] = 0.0
    return shown


def extent(values: npt.ArrayLike) -> tuple[float, float]:
    """The lowest and the highest value that can be shown, never equal.

    >>> extent([1.0, 3.0, 1e308]), extent([]), extent([2.0])
    ((1.0, 3.0), (0.0, 1.0), (1.0, 3.0))
    """
    shown = drawable(values)
    shown = shown[np.isfinite(shown)]
    if not len(shown):
        return 0.0, 1.0
    low, high = float(shown.min()), float(shown.max())
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    room = 0.5 * abs(low) or 1.0
    return low - room, high + room


def set_scale(
    axes: Axes, which: Literal["x", "y"], values: npt.ArrayLike, wide: float = WIDE
) -> bool:
    """Make an axis logarithmic for positive values that lie far apart; whether it was made so."""
    shown = drawable(values)
    shown = shown[np.isfinite(shown)]
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not is_wide(shown, wide):
        axis.set_major_formatter(on_axis)
        return False
    low, high = float(shown.min()), float(shown.max())
    scale = Log(low, high)
    marks = ticks(scale)
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_ticks([scale.value(tick.position) for tick in marks], [t.label for t in marks])
    axis.set_ticks([], minor=True)
    room = (high / low) ** 0.05
    (axes.set_xlim if which == "x" else axes.set_ylim)(low / room, high * room)
    return True


def is_wide(values: Floats, wide: float = WIDE) -> bool:
    """Whether values are better seen by their logarithm.

    >>> is_wide(np.array([0.1, 3.0])), is_wide(np.array([0.1, 1.0])), is_wide(np.array([0.0, 9.0]))
    (True, False, False)
    """
    return bool(len(values) and values.min() > 0 and values.max() / wide > values.min())
