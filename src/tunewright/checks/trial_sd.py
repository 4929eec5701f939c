"""How far apart are trials that repeat one configuration? Known only from repeats."""

from __future__ import annotations

import numpy as np

from tunewright.record.results import Results

FEWEST_REPEATS = 3  # of one trial: a spread of two says nothing to warn on


def trial_sd(results: Results) -> float | None:
    """The standard deviation of the objective over repeats, pooled; None when too few were run.

    The trial that was repeated is left out: it was picked for its luck.
    """
    squares, freedom = 0.0, 0
    for parent in dict.fromkeys(own.parent for own in results.recorded_repeats):
        repeats = () if parent is None else results.repeats(parent)
        values = [own.value for own in repeats if own.value is not None]
        if len(values) >= FEWEST_REPEATS:
            squares += float(np.var(values)) * len(values)
            freedom += len(values) - 1
    return float(np.sqrt(squares / freedom)) if freedom else None
