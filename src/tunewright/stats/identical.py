"""Are numbers the same but for rounding? Runs under different seeds never are, by themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAME = 1e-12  # relative: a few units in the last place, as sums in another order leave them


def identical(values: npt.ArrayLike) -> bool:
    """Whether two or more values are all the same, but for rounding.

    >>> identical([0.3, 0.1 + 0.2, 0.3]), identical([0.3, 0.3001]), identical([0.3])
    (True, False, False)
    """
    own = np.asarray(values, dtype=float)
    if own.size < 2:
        return False
    return bool(np.ptp(own) <= SAME * np.abs(own).max())
