"""What a model sees instead of the objective: bad values pulled in, good ones spread out.

A few terrible trials would otherwise stretch the scale until all good ones look alike. Smaller is
better throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_BEND = 0.5  # of the log warp: how much steeper the good end is than the bad one


@dataclass(frozen=True)
class Warp:
    """A rising function of the objective, known at the given values and between them."""

    values: Array  # of the objective, rising, each once
    warped: Array  # the same, as the model sees it

    def back(self, warped: Array) -> Array:
        """The objective at these warped values; beyond the best one, by the slope there."""
        if len(self.values) == 1:
            return np.full_like(warped, self.values[0])
        found = np.interp(warped, self.warped, self.values)
        at = 1
        while at < len(self.warped) - 1 and self.warped[at] - self.warped[0] < 0.1:
            at += 1  # a slope over two nearly equal values would be noise
        steep = (self.values[at] - self.values[0]) / (self.warped[at] - self.warped[0])
        below = warped < self.warped[0]
        return np.where(below, self.values[0] + steep * (warped - self.warped[0]), found)

    def spread_of(self, values: Array, sd: Array) -> Array:
        """What a standard deviation of each value is as the model sees it: the steeper side."""
        if len(self.values) == 1:
            return np.zeros_like(values)
        ends = [np.interp(values + side * sd, self.values, self.warped) for side in (-1.0, 1.0)]
        middle = np.interp(values, self.values, self.warped)
        return np.maximum(middle - ends[0], ends[1] - middle)


def warped(values: Array, bend: float = _BEND, halves: bool = True) -> tuple[Array, Warp]:
    """The values as the model sees them, of mean 0 and standard deviation 1; and the way back.

    The worse half keeps its order only: it is spread like the worse half of a normal distribution
    that fits the better half. Then a logarithm makes differences at the good end larger.
    """
    if len(values) == 0:
        return values, Warp(np.zeros(1), np.zeros(1))
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) == 1:
        return np.zeros(len(values)), Warp(distinct, np.zeros(1))
    # in units of the range: the squares of huge values would overflow
    unit = distinct / 2 - distinct[0] / 2
    unit = unit / unit[-1]
    spread = _half_ranked(unit, np.bincount(inverse)) if halves else unit
    spread = spread / spread[-1]
    bent = np.log1p(bend * spread) / math.log1p(bend) if bend else spread
    told = bent[inverse]
    mean, sd = float(told.mean()), float(told.std())
    rising = (bent - mean) / sd
    return (told - mean) / sd, Warp(distinct, rising)


def _half_ranked(rising: Array, counts: npt.NDArray[np.intp]) -> Array:
    """Rising values from 0 with those above the median replaced by quantiles of a normal."""
    from scipy.special import ndtri

    every = np.repeat(rising, counts)
    median = float(np.median(every))
    good = every[every <= median]
    sd = math.sqrt(float(np.mean((good - median) ** 2)))
    if sd == 0.0:  # half of all values are equal: ranks would invent differences below them
        sd = float(every.std())
    ranks = np.cumsum(counts) - (counts - 1) / 2  # of equal values the middle one
    quantiles = ndtri((ranks - 0.5) / len(every))
    return np.where(rising > median, median + sd * np.maximum(quantiles, 0.0), rising)
