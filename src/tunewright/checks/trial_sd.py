"""How far apart are trials that repeat one configuration? Known only from repeats."""

from __future__ import annotations

import numpy as np

from tunewright.design.study import Study
from tunewright.store.results import Results

FEWEST_REPEATS = 3  # of one trial: a spread of two says nothing to warn on


def trial_sd(results: Results, study: Study) -> float | None:
    """The standard deviation of the objective over repeats, pooled; None when too few were run.

    Those of the study's own trials if there are any, else those of the round. The trial that was
    repeated is left out: it was picked for its luck.
    """
    values: dict[tuple[int, int], list[float]] = {}
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        for own in results.repeats(parent):
            if own.value is not None:
                values.setdefault((own.study, parent), []).append(own.value)
    enough = {key: found for key, found in values.items() if len(found) >= FEWEST_REPEATS}
    here = [found for (number, _), found in enough.items() if number == study.number]
    groups = here or list(enough.values())
    if not groups:
        return None
    squares = sum(float(np.var(found)) * len(found) for found in groups)
    return float(np.sqrt(squares / sum(len(found) - 1 for found in groups)))
