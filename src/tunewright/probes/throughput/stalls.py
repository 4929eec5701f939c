"""Does the input stall at regular intervals? The waiting times correlated with themselves.

A loader whose workers each need longer than the steps between their turns is late once per round of
its workers; a shuffle buffer or a file that is opened stalls at its own interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CORRELATED = 0.5  # autocorrelation from which a period is believed
LONGEST = 128  # steps of a period looked for
FEWEST_PERIODS = 4  # in the series, for a period to be seen
LATE = 4.0  # times the median: a stall rather than a wait


@dataclass(frozen=True)
class Stalls:
    """A regular stall."""

    every: int  # steps
    correlation: float
    seconds: float  # that a stall lasts, in the median


def find_stalls(waits: Sequence[float]) -> Stalls | None:
    """The period of regular stalls, or None.

    >>> find_stalls(([0.0] * 7 + [1.0]) * 20).every
    8
    """
    series = np.asarray(waits, dtype=float)
    longest = min(LONGEST, len(series) // FEWEST_PERIODS)
    if longest < 2 or series.max(initial=0.0) <= 0:
        return None
    # how long a stall lasts does not matter, only when it comes
    late = series > max(LATE * float(np.median(series)), 0.25 * float(series.max()))
    marks = late.astype(float)
    if not 2 * FEWEST_PERIODS <= 2 * marks.sum() <= len(series):
        return None
    centred = marks - marks.mean()
    power = float(centred @ centred)
    lags = np.arange(2, longest + 1)
    found = np.array([float(centred[:-lag] @ centred[lag:]) / power for lag in lags])
    # a shorter series of products: made comparable over lags
    found *= len(series) / (len(series) - lags)
    best = float(found.max())
    chance = 4 / np.sqrt(len(series))  # four deviations of white noise, over all lags
    if best < max(CORRELATED, chance):
        return None
    first = int(np.argmax(found >= 0.8 * best))  # its multiples correlate as well
    return Stalls(int(lags[first]), best, float(np.median(series[late])))
