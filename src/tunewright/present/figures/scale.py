"""Which axis of values is logarithmic, and where its ticks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tunewright.design.ranges import Log
from tunewright.present.figures.ticks import on_axis, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 20.0  # highest over lowest value from which an axis is logarithmic


def set_scale(
    axes: Axes, which: Literal["x", "y"], values: npt.ArrayLike, wide: float = WIDE
) -> bool:
    """Make an axis logarithmic for positive values that lie far apart; whether it was made so."""
    shown = np.asarray(values, dtype=float)
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


def is_wide(values: npt.NDArray[np.float64], wide: float = WIDE) -> bool:
    """Whether values are better seen by their logarithm.

    >>> is_wide(np.array([0.1, 3.0])), is_wide(np.array([0.1, 1.0])), is_wide(np.array([0.0, 9.0]))
    (True, False, False)
    """
    return bool(len(values) and values.min() > 0 and values.max() > wide * values.min())
