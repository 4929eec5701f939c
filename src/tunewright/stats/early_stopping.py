"""Early stopping: a conformal bound on how far a training curve still improves.

Looks lie at fixed shares of the training schedule. A finished curve of the same schedule has one
score: the largest improvement it made after a look, over the looks, each measured in the standard
deviation of that look's improvements. One score for all looks keeps repeated looking from adding
up its risks. The 98 % quantile of the scores bounds how much a running curve improves; where even
that leaves it worse than the 5th best finished value, training it further cannot win.

Everything here is oriented: smaller values are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
LOOKS = (0.05, 0.1, 0.2, 0.35, 0.6)  # shares of the schedule
LEAST = 60  # finished curves before anything is stopped; a 2 % quantile needs 49
_RISK = 0.02  # share of curves that improve more than the bound allows
KTH = 5  # a trial is stopped for being worse than the 5th best, so that a near miss survives
SPARED = 0.1  # of the trials that would be stopped are finished all the same
_REPLAYS = 100  # bounds computed at most to find which curves were spared


@dataclass(frozen=True)
class Bound:
    """What finished curves allow: at each look, the value from which a trial cannot win."""

    reference: float  # the k-th best final value
    improvement: Array  # by look: the most that a curve improves after it
    curves: int  # how many finished curves it rests on

    @property
    def limits(self) -> Array:
        """By look: a running trial with a worse value is stopped."""
        return np.asarray(self.reference + self.improvement)

    def look_that_stops(self, values: Sequence[float] | Array) -> int | None:
        """The first look at which these values rule the trial out; NaN: not reached, or no value.

        >>> rule = Bound(0.2, np.array([0.5, 0.1]), 60)
        >>> rule.look_that_stops([0.6, 0.35]), rule.look_that_stops([0.6, 0.25])
        (1, None)
        """
        with np.errstate(invalid="ignore"):
            beyond = np.flatnonzero(np.asarray(values, dtype=np.float64) > self.limits)
        return int(beyond[0]) if len(beyond) else None

    def best_possible(self, look: int, value: float) -> float:
        """The best final value the bound leaves to a trial with this value at a look."""
        return float(value - self.improvement[look])


def look_steps(total: int) -> tuple[int, ...]:
    """The steps of the looks in a schedule of so many steps; a short one has fewer.

    >>> look_steps(1000), look_steps(5)
    ((50, 100, 200, 350, 600), (1, 2, 3))
    """
    steps = [round(share * total) for share in LOOKS]
    return tuple(sorted({step for step in steps if 0 < step < total}))


def values_at(
    looks: Sequence[int],
    steps: npt.NDArray[np.int64],
    values: Array,
    *,
    best: bool = True,
) -> Array:
    """A curve at the looks: its best value so far, or its last one; NaN where it has no point yet.

    A point that is NaN or infinite makes the looks after it NaN: nothing is concluded from it.

    >>> values_at([2, 4, 9], np.array([3, 4, 5]), np.array([0.5, 0.7, 0.4]))
    array([nan, 0.5, 0.4])
    """
    at_looks = np.full(len(looks), np.nan)
    if not len(steps):
        return at_looks
    broken = np.logical_or.accumulate(~np.isfinite(values))
    clean = np.where(broken, np.nan, values)
    so_far = np.fmin.accumulate(clean) if best else clean
    so_far = np.where(broken, np.nan, so_far)
    places = np.searchsorted(steps, looks, side="right") - 1
    reached = places >= 0
    at_looks[reached] = so_far[places[reached]]
    return at_looks


def bound(at: Array, final: Array, weight: Array | None = None) -> Bound | None:
    """The bound that these finished curves give; None while they are too few.

    `at` has a row per curve and a column per look, `final` the values they ended with, `weight` how
    many trials each represents. A look at which some curve has no value stops nothing.
    """
    usable = np.isfinite(final)
    at, final = at[usable], final[usable]
    weight = np.ones(len(final)) if weight is None else weight[usable]
    if len(final) < LEAST:
        return None
    gain = at - final[:, None]
    whole = np.isfinite(gain).all(axis=0)
    improvement = np.full(at.shape[1], np.inf)
    reference = float(np.partition(final, KTH - 1)[KTH - 1])
    if whole.any():
        spread = gain[:, whole].std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        most = _quantile((gain[:, whole] / spread).max(axis=1), weight)
        improvement[whole] = np.maximum(most * spread, 0.0)
    return Bound(reference, improvement, len(final))


def _quantile(scores: Array, weight: Array) -> float:
    """The conformal quantile: the trial that is judged counts as one more, infinite score."""
    order = np.argsort(scores, kind="stable")
    mass = np.cumsum(weight[order])
    place = int(np.searchsorted(mass, (1 - _RISK) * (mass[-1] + 1) - 1e-9))
    return float(scores[order][place]) if place < len(scores) else float(np.inf)


def weights(at: Array, final: Array, spared: npt.NDArray[np.bool_], pruned: int) -> Array:
    """How many trials each finished curve represents, in the order in which they were trained.

    Curves that ended although the bound of those before them ruled them out are the random tenth:
    each represents ten trials, never more than were stopped. Without that, only survivors would
    set the bound. It is computed from the curves alone, so nothing has to be stored for it.
    """
    weight = np.ones(len(final))
    if not pruned or len(final) <= LEAST:
        return weight
    out = np.zeros(len(final), dtype=np.bool_)
    every = max(1, len(final) // _REPLAYS)
    for first in range(LEAST, len(final), every):
        rule = bound(at[:first], final[:first], weight[:first])
        for row in range(first, min(first + every, len(final))):
            ruled_out = rule is not None and rule.look_that_stops(at[row]) is not None
            out[row] = spared[row] and ruled_out
        if out.any():
            weight[out] = min(1 / SPARED, 1 + pruned / int(out.sum()))
    return weight
