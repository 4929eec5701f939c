"""One score per question and curve: the higher, the surer that the answer is yes.

A warning is a score of at least the upper limit of `_limits.py`, a clean bill one of at most the
lower limit; between the two the curve cannot be judged. The limits and their error rates come from
labelled curves (`bench/diagnose.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunewright.checks.overfitting import BROAD, got_worse
from tunewright.checks.saturated import saturation
from tunewright.checks.step_variance import selection_gain
from tunewright.checks.still_improving import improving
from tunewright.checks.training_bug import rising
from tunewright.diagnosis._cycle import FEWEST as FEWEST_FOR_CYCLES, strongest_cycle
from tunewright.diagnosis._read_curve import ReadCurve
from tunewright.stats.noise import Floats, NoisyCurves, moving_mean
from tunewright.stats.spikes import (
    FEWEST as FEWEST_FOR_SPIKES,
    LONGEST as LONGEST_FOR_SPIKES,
    spikes,
)

SURE = 99.0  # the score of what needs no statistics: NaN, infinity
_SMALLEST = 0.05  # of the first value: an improvement below it is none, as a yardstick
_HALF = 0.5
HIDDEN = 0.02  # of the improvement: a standard error above it hides what matters
_TINY = 0.02  # of the improvement: a smaller rise is none
_EPSILON = 1e-12


@dataclass(frozen=True)
class Score:
    """How sure the answer yes is, and what the curve shows."""

    score: float
    points: int
    effect: float | None = None  # what was measured, as a share of the improvement
    value: float | None = None  # in units of the metric, or of what the question is about
    at_step: int | None = None  # where
    unclear: bool = False  # noise hides the effect: neither yes nor no


def divergence(curve: ReadCurve) -> Score | None:
    """Whether the loss is not finite, or ends above where it began.

    The score is the share of the improvement that was lost again at the end: 1 is all of it.
    """
    bad = np.flatnonzero(~np.isfinite(curve.values))
    points = len(curve.values)
    if len(bad):
        return Score(SURE, points, at_step=int(curve.steps[bad[0]]))
    if points < 5:
        return None
    start = _start(curve.values)
    end = float(np.median(curve.values[-max(1, points // 20) :]))
    best = float(moving_mean(curve.values[None], max(1, points // 20)).min())
    gained = max(start - best, _SMALLEST * abs(start), _EPSILON)
    return Score((end - best) / gained, points, (end - best) / gained, curve.sign * end)


def spike_score(curve: ReadCurve) -> Score | None:
    """Whether a training loss jumps up and comes back: the z of its clearest spike."""
    points = curve.table(LONGEST_FOR_SPIKES)
    if points is None or len(points[1]) < FEWEST_FOR_SPIKES:
        return None
    steps, values = points
    seen = spikes(values[None])
    if not seen:
        return Score(0.0, len(values))
    worst = max(seen, key=lambda spike: spike.z)
    return Score(worst.z, len(values), worst.height, float(len(seen)), int(steps[worst.first]))


def rose(curve: ReadCurve) -> Score | None:
    """Whether a training loss rises and stays up, as a bug in the pipeline makes it."""
    read = curve.noisy()
    if read is None:
        return None
    steps, curves = read
    rise = rising(curves)
    share = float(rise.rise[0] / max(curves.total[0], _EPSILON))
    sure = float(rise.z[0]) if rise.lasting[0] and share > _TINY else 0.0
    width = curves.evaluations // 10
    at = curves.evaluations - 10 * width + width * int(rise.start[0]) + width // 2
    return Score(max(sure, 0.0), curves.evaluations, share, at_step=int(steps[at]))


def worsening(valid: ReadCurve, train: ReadCurve | None) -> Score | None:
    """Whether validation gets worse while training does not.

    The z of the rise from the lowest stretch to the end, by narrow and by broad means.
    """
    read = valid.noisy()
    if read is None:
        return None
    steps, curves = read
    rise = got_worse(curves)
    lowest = int(rise.lowest[0])
    share = float(rise.rise[0] / max(curves.total[0], _EPSILON))
    broad = _broad_z(curves)
    sure = max(float(rise.z[0]) if share > _TINY else 0.0, broad, 0.0)
    if train is not None and sure > 0 and _training_rose(train, float(steps[lowest]), share):
        sure = 0.0
    best = float(valid.sign * curves.best[0])
    at = int(steps[min(lowest + curves.width // 2, len(steps) - 1)])
    return Score(sure, curves.evaluations, share, best, at)


def _broad_z(curves: NoisyCurves) -> float:
    width = max(3, round(BROAD * curves.evaluations))
    means = moving_mean(curves.values, width)
    lowest = int(means[0].argmin())
    rise = float(means[0, -1] - means[0, lowest])
    apart = curves.evaluations - width - lowest >= width
    if not apart or rise <= 0.04 * float(curves.total[0]):
        return 0.0
    early = float(curves.factor_at(lowest + width // 2)[0])
    late = float(curves.factor_at(curves.evaluations - 1 - width // 2)[0])
    return rise / (float(curves.mean_sd(width)[0]) * float(np.hypot(early, late)))


def _training_rose(train: ReadCurve, since: float, share: float) -> bool:
    """Whether training got worse over the same time, by a quarter of the share or more."""
    read = train.noisy()
    if read is None:
        return False
    steps, curves = read
    late = curves.values[0, steps >= since]
    if len(late) < 4:
        return False
    few = max(2, len(late) // 4)
    risen = float(late[-few:].mean() - late[:few].mean())
    total = max(float(curves.total[0]), _EPSILON)
    return risen > 2 * float(curves.mean_sd(few)[0]) and risen / total >= 0.25 * share


def improves(curve: ReadCurve) -> Score | None:
    """Whether the curve improves when training ends: the gain of its last quarter.

    The score is that gain by a line through the quarter, in percent of the whole improvement.
    """
    read = curve.noisy()
    if read is None:
        return None
    steps, curves = read
    trend = improving(curves)
    total = max(float(curves.total[0]), _EPSILON)
    gain = float(trend.gain[0])
    error = abs(gain / float(trend.z[0])) if abs(float(trend.z[0])) > _EPSILON else np.inf
    at = int(steps[-trend.window])
    hidden = error / total > max(HIDDEN, _HALF * abs(gain) / total)
    share = gain / total
    return Score(100 * share, curves.evaluations, share, gain, at, hidden)


def levelling_off(curve: ReadCurve) -> Score | None:
    """Whether the second half of training changed nothing that matters.

    The score is minus the change over the second half, or what the trend of the last thirds
    promises where that is more, in percent of the improvement.
    """
    read = curve.noisy()
    if read is None:
        return None
    steps, curves = read
    level = saturation(curves)
    total = max(float(curves.total[0]), _EPSILON)
    width = max(4, round(0.2 * curves.evaluations))
    error = float(curves.mean_sd(width)[0]) * float(np.sqrt(2)) / total
    change = abs(float(level.gain[0])) / total
    promised = _gain_ahead(curves.values[0]) / total
    at = int(steps[min(int(level.levels_at[0]), len(steps) - 1)])
    worst = max(change, promised)
    hidden = error > max(HIDDEN, _HALF * worst)
    share = float(level.gain[0]) / total
    return Score(-100 * worst, curves.evaluations, share, at_step=at, unclear=hidden)


def _gain_ahead(values: Floats) -> float:
    """What as long a training again would gain, if thirds keep gaining in proportion."""
    third = len(values) // 3
    parts = [float(values[len(values) - k * third :][:third].mean()) for k in (3, 2, 1)]
    before, last = parts[0] - parts[1], parts[1] - parts[2]
    ratio = min(max(last / max(before, _EPSILON), 0.0), 0.95)
    return max(last, 0.0) * min(ratio / (1 - ratio), 1.5)


def jumps(curve: ReadCurve) -> Score | None:
    """Whether late evaluations jump by much of what training gained, in percent of it."""
    points = curve.table()
    if points is None:
        return None
    from tunewright.stats.noise import noisy_curves

    curves = noisy_curves(points[1])
    gain = selection_gain(curves, chosen=False)
    total = max(float(curves.total[0]), _EPSILON)
    sd = float(gain.late_sd[0])
    return Score(100 * float(gain.at_least[0]) / total, curves.evaluations, sd / total, sd)


def periodic(curve: ReadCurve) -> Score | None:
    """Whether the evaluations go up and down with a period: minus the log10 of its chance."""
    points = curve.table()
    if points is None or len(points[1]) < FEWEST_FOR_CYCLES:
        return None
    steps, values = points
    cycle = strongest_cycle(values)
    if cycle is None:
        return Score(0.0, len(values), unclear=True)
    gap = float(np.median(np.diff(steps)))
    return Score(-float(np.log10(max(cycle.chance, 1e-30))), len(values), value=cycle.length * gap)


def gradient(curve: ReadCurve) -> Score | None:
    """Whether the gradient norm explodes or vanishes: how far its end left its usual size.

    In decades of the last tenth's median, against the median of the middle of training; a norm
    that is not finite, or zero at the end, is sure.
    """
    values = curve.sign * curve.values
    points = len(values)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        return Score(SURE, points, at_step=int(curve.steps[bad[0]]))
    if points < 20:
        return None
    usual = float(np.median(values[points // 5 : max(points // 2, points // 5 + 1)]))
    end = float(np.median(values[-max(2, points // 10) :]))
    if usual <= 0 or end <= 0:
        return Score(SURE if end <= 0 < usual else 0.0, points, value=end)
    decades = float(np.log10(end / usual))
    return Score(abs(decades), points, decades, end)


def no_learning(curve: ReadCurve, chance: float | None) -> Score | None:
    """Whether training never got better than a guess.

    The score is minus the improvement over chance (or over the first value), in percent of it.
    """
    values = curve.values[np.isfinite(curve.values)]
    points = len(values)
    if points < 10:
        return None
    start = _start(values) if chance is None else curve.sign * chance
    end = float(np.median(values[-max(2, points // 10) :]))
    size = max(abs(start), _EPSILON)
    sd = float(np.std(np.diff(values[points // 2 :]))) / np.sqrt(2)
    if curve.sign < 0:  # a score: from the start to the best there is
        size = max(1.0 - abs(start), _EPSILON) if abs(start) <= 1 else size
    gained = (start - end) / size
    # an improvement within the noise is none
    gained = gained - sd / size / np.sqrt(max(2, points // 10))
    return Score(-100 * gained, points, (start - end) / size, curve.sign * end)


def off_schedule(rates: ReadCurve, declared: str | None, configured: float | None) -> Score | None:
    """Whether the logged learning rate departs from its schedule.

    Of what is configured: a declared decay that stays flat, a constant rate that falls, or a peak
    that is not the configured rate. Without a configuration: a rate that jumps up late.
    """
    values = rates.sign * rates.values
    finite = np.isfinite(values)
    values, steps = values[finite], rates.steps[finite]
    if len(values) < 5 or values.max() <= 0:
        return None
    peak, end = float(values.max()), float(values[-1])
    if configured is not None and configured > 0 and abs(peak - 1.0) > 1e-6:
        ratio = float(abs(np.log(peak / configured)))
        if ratio > np.log(1.5):
            return Score(SURE, len(values), peak / configured, peak)
    if declared is not None:
        kind = declared.lower()
        if any(word in kind for word in ("cosine", "linear", "decay", "exp", "poly", "rsqrt")):
            return Score(SURE if end > 0.99 * peak else 0.0, len(values), end / peak, peak)
        if any(word in kind for word in ("constant", "none", "fixed")):
            return Score(SURE if end < 0.9 * peak else 0.0, len(values), end / peak, peak)
    if declared is None and configured is None:
        return None
    return Score(0.0, len(values), end / peak, peak, int(steps[int(values.argmax())]))


def _start(values: Floats) -> float:
    return float(np.median(values[: max(1, round(0.05 * len(values)))]))
