"""What does the logged learning rate show of the schedule? And have the best trials small ones?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.design.names import Meaning
from tunewright.design.ranges import as_number
from tunewright.stats.noise import Floats
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_DECAYED = 0.1  # of the peak: below it improvement at the end is the schedule's doing
_STEP = 1.5  # ratio of neighbouring values that counts as a step


def learning_rates(trial: Trial, meaning: Meaning) -> Curve | None:
    """The learning rate a trial logged, or None: a logged `learning_rate` is the schedule."""
    for name in dict.fromkeys((meaning.name("learning_rate"), "learning_rate")):
        curve = trial.curves.only(name)
        if curve is not None and len(curve) > 1:
            usable = np.isfinite(curve.values) & (curve.values >= 0)
            if usable.sum() > 1 and curve.values[usable].max() > 0:
                return Curve(curve.steps[usable], curve.values[usable])
    return None


def decayed(rates: Curve) -> bool:
    """Whether the learning rate ended below a tenth of its peak."""
    return bool(rates.values[-1] < _DECAYED * rates.values.max())


def steps_of(rates: Curve) -> Floats:
    """The training steps at which the learning rate jumped, up or down."""
    before, after = rates.values[:-1], rates.values[1:]
    jumped = (after > _STEP * before) | (before > _STEP * after)
    return rates.steps[1:][jumped].astype(np.float64)


def stepped(rates: Curve, first: float, last: float) -> bool:
    """Whether the learning rate jumped between two training steps."""
    at = steps_of(rates)
    return bool(np.any((at > first) & (at <= last)))


def rose(rates: Curve, first: float, last: float) -> bool:
    """Whether the learning rate was higher at some point of a stretch than at its start."""
    inside = (rates.steps >= first) & (rates.steps <= last)
    if not inside.any():
        return False
    start = np.interp(first, rates.steps, rates.values)
    return bool(rates.values[inside].max() > 1.05 * start)


def warmup_end(trial: Trial, meaning: Meaning) -> float:
    """The step at which warm-up ends: as configured, else as logged, else 0.

    A logged peak after the first third is a cycle, not a warm-up.
    """
    configured = trial.configuration.get(meaning.name("warmup_steps"))
    if isinstance(configured, int | float) and not isinstance(configured, bool):
        return float(configured)
    rates = learning_rates(trial, meaning)
    if rates is None or rates.values[0] >= 0.99 * rates.values.max():
        return 0.0
    peak = float(rates.steps[np.argmax(rates.values >= 0.99 * rates.values.max())])
    return peak if peak <= rates.steps[-1] / 3 else 0.0


# ---- do the best trials have systematically smaller learning rates?
#
# A small learning rate regularises. Where others overfit, selecting the best favours what escapes
# that by accident (playbook, "Examining the training curves").


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
