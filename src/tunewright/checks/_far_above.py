"""Which trials ended finite but absurd: far above all others, and above where they began?

Far above the others alone would call every trial stuck at chance diverged (21 to 43 % in two
published sets); a diverged one ends worse than it began.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tunewright.stats.noise import ROBUST
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FEWEST = 8  # completed trials
_SPREADS = 6.0
_SMALLEST_SPREAD = 0.02  # of the logarithm
_WORSE_THAN_START = 1.1


def far_above(results: Results, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The completed trials of one study whose training loss ended far above all others.

    By the training loss, or by the objective where that is minimized and no loss was logged.
    """
    metric = results.meaning.name("train_loss")
    completed = [t for t in trials if t.status == "completed"]
    if not any(t.curves.only(metric) is not None for t in completed):
        metric = results.objective.metric
        if not results.objective.minimize:
            return ()
    ends, starts, owners = [], [], []
    for trial in completed:
        curve = trial.curves.only(metric)
        if curve is None or len(curve) < 2:  # where it began must be known
            continue
        finite = curve.values[np.isfinite(curve.values)]
        if len(finite):
            few = max(1, len(finite) // 20)
            ends.append(float(np.median(finite[-few:])))
            starts.append(float(finite[0]))
            owners.append(trial)
    if len(ends) < _FEWEST or min(ends) <= 0:
        return ()
    logs = np.log(ends)
    middle = np.median(logs)
    spread = max(ROBUST * float(np.median(middle - logs[logs <= middle])), _SMALLEST_SPREAD)
    start = results.meaning.number("chance") or float(np.median(starts))
    absurd = (logs > middle + _SPREADS * spread) & (np.array(ends) > _WORSE_THAN_START * start)
    return tuple(trial for trial, is_absurd in zip(owners, absurd, strict=True) if is_absurd)
