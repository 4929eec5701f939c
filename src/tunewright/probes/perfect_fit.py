"""When does a training run fit its training data perfectly? At the first evaluation that shows it.

Classification: the training error is at most 0.1 % at two evaluations in a row. Anything else: the
training loss is at most a threshold, or, without one, within 1 % of its floor.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tunewright.design.names import Meaning
from tunewright.messages import Message
from tunewright.store.curves import Curve

ERROR = 0.001  # of all training examples
IN_A_ROW = 2  # evaluations: a single one may be noise
WITHIN = 0.01  # of the way from the first value down to the floor
WINDOWS = 100  # a curve logged more often than twice this is averaged: it is of single batches
TAIL = 0.1  # of a training: its level is the median there
_TRAINING = {"train", "training"}
_ERRORS = {"error", "err", "errors"}
_ACCURACIES = {"accuracy", "acc", "top1", "correct"}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Criterion:
    """What counts as a perfect fit: the metric, and how small its distance from `zero` must get."""

    metric: str
    threshold: float | None  # of the distance; None: 1 % of the way to a floor not yet known
    zero: float = 0.0  # the value of a flawless fit
    falls: bool = True  # False: an accuracy, which rises to `zero`

    @property
    def message(self) -> Message:
        """The criterion as a code with its facts: `train_error at most 0.001`."""
        limit = None
        if self.threshold is not None:
            limit = self.zero + self.threshold if self.falls else self.zero - self.threshold
        facts = {"metric": self.metric, "limit": limit, "falls": self.falls}
        return Message("probe.criterion", facts)

    def distance(self, values: Floats) -> Floats:
        """How far values are from a flawless fit."""
        return values - self.zero if self.falls else self.zero - values


@dataclass(frozen=True)
class Fit:
    """Where one curve first fits, in the unit of its steps."""

    steps: float  # the first evaluation that meets the criterion, the next one agreeing
    crossing: float  # between that and the evaluation before, log-linear
    spacing: float  # between those two: what the step is known to


def criterion(
    logged: Mapping[str, Sequence[Curve]],
    meaning: Meaning,
    metric: str | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Criterion | None:
    """The criterion for what was logged; None when nothing measures how well training data is fit.

    An error or accuracy of the training data counts before the training loss. `metric`, `at_most`
    and `at_least` are the user's own words and win.
    """
    chosen = metric or _of_training(logged, meaning)
    if chosen is None or chosen not in logged:
        return None
    if at_least is not None:
        return Criterion(chosen, 0.0, at_least, falls=False)
    if at_most is not None:
        return Criterion(chosen, max(at_most, 0.0), min(at_most, 0.0))
    words = _words(chosen)
    highest = max(float(c.values[np.isfinite(c.values)].max(initial=0.0)) for c in logged[chosen])
    whole = 100.0 if highest > 1.0 else 1.0  # in percent, or as a share
    if words & _ERRORS:
        return Criterion(chosen, ERROR * whole)
    if words & _ACCURACIES:
        return Criterion(chosen, ERROR * whole, whole, falls=False)
    return Criterion(chosen, None)


def _of_training(logged: Collection[str], meaning: Meaning) -> str | None:
    for kind in (_ERRORS, _ACCURACIES):
        for name in sorted(logged):
            words = _words(name)
            if words & _TRAINING and words & kind:
                return name
    loss = meaning.name("train_loss")
    return loss if loss in logged else None


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


def readable(curve: Curve) -> Curve:
    """The curve without gaps; one of single batches as the means of a hundred windows."""
    finite = np.isfinite(curve.values)
    steps, values = curve.steps[finite], curve.values[finite]
    if len(steps) <= 2 * WINDOWS:
        return Curve(steps, values)
    edges = np.linspace(0, len(steps), WINDOWS + 1).astype(int)
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return Curve(steps[edges[1:] - 1], means)


def level(curve: Curve, until: float = 1.0) -> float:
    """The median over the last tenth of a readable curve, or of its first part up to `until`."""
    count = max(1, round(until * len(curve)))
    tail = max(1, math.ceil(TAIL * count))
    return float(np.median(curve.values[max(0, count - tail) : count]))


def still_falling(curve: Curve, wanted: Criterion, start: float | None = None) -> bool:
    """Whether the second half of a training gained more than 1 % of the way that lay behind it."""
    middle, end = level(curve, 0.5), level(curve)
    gained = middle - end if wanted.falls else end - middle
    first = float(curve.values[0]) if start is None else start
    return gained > WITHIN * abs(first - end)


def with_floor(wanted: Criterion, curves: Sequence[Curve]) -> Criterion:
    """The criterion with the floor at which the lowest of these curves has levelled off, if it has.

    `curves` are in the order of their learning rates: the first value of the smallest is where the
    way down begins, as it has moved least. Relative to the floor itself, 1 % would mean nothing for
    a loss that falls to 0 or below. A curve as low from its first value as ever after shows no
    floor: it may be one that never learned.
    """
    if wanted.threshold is not None or not curves:
        return wanted
    lowest = min(curves, key=level)
    start, floor = float(curves[0].values[0]), level(lowest)
    known = Criterion(wanted.metric, WITHIN * (start - floor), floor)
    if lowest.values[0] <= floor + WITHIN * (start - floor):
        return wanted
    return wanted if still_falling(lowest, wanted, start) else known


def first_fit(curve: Curve, wanted: Criterion) -> Fit | None:
    """The first evaluation of a readable curve that fits, the next one agreeing; None: none does.

    >>> curve = Curve(np.arange(10, 60, 10), np.array([0.1, 0.01, 0.0001, 0.0, 0.0]))
    >>> first_fit(curve, Criterion("train_error", 0.001))
    Fit(steps=30.0, crossing=25.0, spacing=10.0)
    """
    if wanted.threshold is None:
        return None
    fits = wanted.distance(curve.values) <= wanted.threshold
    lasting = fits[: len(fits) - IN_A_ROW + 1].copy()
    for later in range(1, IN_A_ROW):
        lasting &= fits[later : len(fits) - IN_A_ROW + 1 + later]
    if not lasting.any():
        return None
    at = int(np.argmax(lasting))
    step = float(curve.steps[at])
    if at == 0:
        return Fit(step, step, step)
    before = float(curve.steps[at - 1])
    far, near = wanted.distance(curve.values[at - 1 : at + 1]).tolist()
    share = _share(far, near, wanted.threshold)
    return Fit(step, before + share * (step - before), step - before)


def _share(before: float, after: float, threshold: float) -> float:
    """How much of the way between two evaluations lies before the threshold."""
    if before <= threshold:  # a lone fit that the next evaluation did not confirm
        return 1.0
    if threshold > 0:
        # an error of no example at all has no logarithm: it counts as a tenth of the threshold
        after = max(after, threshold / 10)
        return math.log(before / threshold) / math.log(before / after)
    return (before - threshold) / (before - after)
