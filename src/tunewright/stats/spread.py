"""A spread: one source of variance as a standard deviation, with how well it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.messages import Message

Source = Literal["trial", "study", "data"]


@dataclass(frozen=True)
class Spread:
    """How far one source of chance moves a value (or a gain), in the metric's units."""

    source: Source
    sd: float
    low: float  # of a 90 % interval
    high: float
    freedom: float  # degrees of freedom it is known with; infinite: exactly
    how: Message  # what it was measured from

    def __str__(self) -> str:
        """The standard deviation with its interval and where it comes from."""
        return f"{self.source} {self.sd:.3g} ({self.low:.2g} to {self.high:.2g}): {self.how}"


def chi_square_interval(sd: float, freedom: float, level: float = 0.90) -> tuple[float, float]:
    """The interval of a standard deviation with so many degrees of freedom, for normal noise.

    >>> [round(end, 2) for end in chi_square_interval(1.0, 4)]
    [0.65, 2.37]
    """
    from scipy.special import chdtri

    tail = (1 - level) / 2
    low, high = (sd * math.sqrt(freedom / float(chdtri(freedom, p))) for p in (tail, 1 - tail))
    return low, high


# ---- are numbers the same but for rounding? Runs under different seeds never are, by themselves


SAME = 1e-12  # relative: a few units in the last place, as sums in another order leave them


def identical(values: npt.ArrayLike) -> bool:
    """Whether two or more values are all the same, but for rounding.

    >>> identical([0.3, 0.1 + 0.2, 0.3]), identical([0.3, 0.3001]), identical([0.3])
    (True, False, False)
    """
    array = np.asarray(values, dtype=float)
    if array.size < 2:
        return False
    return bool(np.ptp(array) <= SAME * np.abs(array).max())
