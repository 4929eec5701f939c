"""Do the best trials have systematically smaller learning rates? Then they may be best by accident.

A small learning rate regularises. Where others overfit, selecting the best favours what escapes
that by accident (playbook, "Examining the training curves").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.design.ranges import as_number
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FEWEST = 3  # trials on either side
DIFFER = 0.05  # chance of such ranks where nothing differs


@dataclass(frozen=True)
class SmallRates:
    """The best trials have smaller learning rates than the others they are compared with."""

    name: str  # what the round calls the learning rate
    best: float  # the median of the best trials
    others: float  # the median of the others
    p: float  # of a rank test


def small_rates(
    results: Results, best: Sequence[Trial], others: Sequence[Trial]
) -> SmallRates | None:
    """Whether the best have smaller learning rates than the others; None: nothing shows it."""
    name = results.meaning.name("learning_rate")
    low, high = _rates(name, best), _rates(name, others)
    if len(low) < _FEWEST or len(high) < _FEWEST:
        return None
    from scipy.stats import mannwhitneyu

    p = float(mannwhitneyu(low, high, alternative="less", method="asymptotic").pvalue)
    if not p <= DIFFER:
        return None
    return SmallRates(name, float(np.median(low)), float(np.median(high)), p)


def _rates(name: str, trials: Sequence[Trial]) -> list[float]:
    rates = (as_number(trial.configuration.get(name)) for trial in trials)
    return [rate for rate in rates if rate is not None]
