"""What does the logged learning rate show of the schedule? Decay, steps, rises, warm-up."""

from __future__ import annotations

import numpy as np

from tunewright.design.names import Meaning
from tunewright.stats.noise import Floats
from tunewright.store.curves import Curve
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
