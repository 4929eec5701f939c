"""How well is a standard deviation known, or a share? Spreads and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def pooled_sd(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The standard deviation within groups of repeats, and the degrees of freedom behind it.

    >>> pooled_sd([[1.0, 3.0], [10.0, 12.0]])
    (1.4142135623730951, 2)
    """
    freedom = sum(len(group) - 1 for group in groups)
    squares = sum(float(np.var(group)) * len(group) for group in groups)
    return math.sqrt(squares / freedom), freedom


def chi_square_interval(sd: float, freedom: float, level: float = 0.90) -> tuple[float, float]:
    """The interval of a standard deviation with so many degrees of freedom, for normal noise.

    >>> [round(end, 2) for end in chi_square_interval(1.0, 4)]
    [0.65, 2.37]
    """
    from scipy.special import chdtri

    tail = (1 - level) / 2
    low, high = (sd * math.sqrt(freedom / float(chdtri(freedom, p))) for p in (tail, 1 - tail))
    return low, high


def wilson(count: float, total: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share, `count` of `total`; z = 1.96 holds the truth 95 times of 100.

    >>> [round(end, 3) for end in wilson(8, 16)], wilson(0, 5)[0]
    ([0.28, 0.72], 0.0)
    """
    share, spread = count / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    # at the ends the formula is exactly 0 or 1, rounding is not
    return 0.0 if count == 0 else middle - half, 1.0 if count == total else middle + half


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
