"""How much better is the candidate? The posterior of its gain, from repeats of both arms.

Runs are oriented so that larger is better, and the last axis counts them: one decision is a pair of
vectors, a simulation of thousands is a pair of matrices, and both go through the same lines. The
model is normal noise with a flat prior on the means; the variance of earlier repeats of the
pipeline enters as `History`. The gain is then Student-t around the difference of the means.

Arms of equal size share one variance (right up to a ratio of the standard deviations of 3); unequal
ones get a variance each, since the pooled rule launches 23 to 25 % of equal pairs when the smaller
arm is also the noisier one (10 + 3 runs, three times the standard deviation).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.errors import DesignError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEVEL = 0.90  # of the interval
_DUST = 1e-14  # of the values: what rounding makes of a difference of zero
_MOST_FREEDOM = 7.0  # what drift between configurations leaves of even an endless history
_DECLARED_FREEDOM = 8  # of a standard deviation that is declared without a count of runs
# the history is dropped when the runs contradict it; one that is too small does more harm
_TOO_LARGE, _TOO_SMALL = 0.90, 0.025


@dataclass(frozen=True)
class History:
    """The trial variance of earlier repeats of tuned configurations.

    >>> History.from_repeats(sd=0.002, freedom=8).weight.__round__(2)
    3.73
    """

    sd: Any  # a number, or one for each row of a simulation
    weight: Any  # degrees of freedom it counts for here; 0: nothing is known
    runs: int = 0  # repeats it comes from
    groups: int = 0  # configurations they repeat
    source: str = "history"  # or "declared"

    @classmethod
    def from_repeats(cls, sd: Any, freedom: float, runs: int = 0, groups: int = 0) -> History:
        """From repeats with so many degrees of freedom, discounted for drift between them.

        The standard deviation differs between tuned configurations of one pipeline by a factor of
        about exp(0.27 z), so that no amount of history is worth more than 7 degrees of freedom.
        """
        return cls(sd, _MOST_FREEDOM * freedom / (freedom + _MOST_FREEDOM), runs, groups)

    @classmethod
    def from_declaration(cls, sd: float) -> History:
        """A standard deviation that somebody knows from elsewhere."""
        if isinstance(sd, bool) or not 0 < sd < float("inf"):
            raise DesignError("gain.bad_sd", sd=sd)
        return replace(cls.from_repeats(float(sd), _DECLARED_FREEDOM), source="declared")


NOTHING = History(0.0, 0.0, source="none")


@dataclass(frozen=True, eq=False)
class Gain:
    """The posterior of a gain: Student-t around the observed one."""

    mean: Floats  # observed; positive is better
    error: Floats  # its standard error
    freedom: Floats  # degrees of freedom of the t
    sd: Floats  # of one run
    conflict: Bools  # whether the runs contradict the history, which was then left out
    runs: tuple[int, int]  # candidate, baseline

    def probability(self, above: float | Floats = 0.0) -> Floats:
        """The probability that the gain exceeds a value."""
        from scipy.special import stdtr

        distance = self.mean - above
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(distance == 0, 0.0, distance / self.error)  # no noise: seen is certain
        return np.asarray(stdtr(np.maximum(self.freedom, 1e-9), t))

    def interval(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """The central interval that holds the gain with this probability."""
        from scipy.special import stdtrit

        reach = stdtrit(self.freedom, 0.5 + level / 2) * self.error
        return self.mean - reach, self.mean + reach

    def widen(self, variance: float, freedom: float) -> Gain:
        """The same gain with one more source of variance, known with so much freedom.

        The degrees of freedom of the sum are those of Welch and Satterthwaite.
        """
        squared = self.error**2
        total = squared + variance
        parts = squared**2 / self.freedom + (variance**2 / freedom if np.isfinite(freedom) else 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            merged = np.where(parts > 0, total**2 / parts, self.freedom)
        return replace(self, error=np.sqrt(total), freedom=merged)


def gain(candidate: npt.ArrayLike, baseline: npt.ArrayLike, history: History = NOTHING) -> Gain:
    """The gain of candidate runs over baseline runs, larger values being better.

    >>> found = gain([0.92, 0.93, 0.92, 0.94, 0.93], [0.91, 0.92, 0.90, 0.91, 0.92])
    >>> found.mean.item().__round__(3), found.probability().item().__round__(3)
    (0.016, 0.992)
    """
    b, a = np.asarray(candidate, dtype=float), np.asarray(baseline, dtype=float)
    count_b, count_a = b.shape[-1], a.shape[-1]
    # one run has no spread: its variance can only be that of the others
    shared = count_a == count_b or min(count_a, count_b) == 1
    square_b, square_a = _squares(b), _squares(a)
    freedom = count_a + count_b - 2
    weight, conflict = _weight(square_a + square_b, freedom, history)
    known = weight * np.square(history.sd)
    total = weight + freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (known + square_a + square_b) / total
        if shared:
            squared_error = variance * (1 / count_a + 1 / count_b)
        else:
            arms = [
                ((known / 2 + square) / (weight / 2 + count - 1) / count, weight / 2 + count - 1)
                for square, count in ((square_a, count_a), (square_b, count_b))
            ]
            squared_error = arms[0][0] + arms[1][0]
            parts = sum(part**2 / df for part, df in arms)
            total = np.where(parts > 0, squared_error**2 / parts, total)
    return Gain(
        mean=_difference(b.mean(axis=-1), a.mean(axis=-1)),
        error=np.sqrt(squared_error),
        freedom=np.broadcast_to(total, np.shape(squared_error)).astype(float),
        sd=np.sqrt(variance),
        conflict=conflict,
        runs=(count_b, count_a),
    )


def paired_gain(
    differences: npt.ArrayLike, history: History = NOTHING, repeats: float = 1.0
) -> Gain:
    """The gain when every run of the candidate has one of the baseline on the same data split.

    `differences` are candidate minus baseline per split, means over `repeats` runs where a split
    has several. What the splits have in common then drops out; it never costs more than 1 % of the
    power where they have nothing in common.
    """
    d = np.asarray(differences, dtype=float)
    splits = d.shape[-1]
    of_one = replace(history, sd=np.sqrt(2 / repeats) * np.asarray(history.sd))
    square = _squares(d)
    weight, conflict = _weight(square, splits - 1, of_one)
    total = weight + splits - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (weight * np.square(of_one.sd) + square) / total
    return Gain(
        mean=d.mean(axis=-1),
        error=np.sqrt(variance / splits),
        freedom=np.broadcast_to(total, np.shape(variance)).astype(float),
        sd=np.sqrt(variance * repeats / 2),
        conflict=conflict,
        runs=(splits, splits),
    )


def _difference(b: Floats, a: Floats) -> Floats:
    """The difference of two means, where what rounding leaves of equal ones is nothing."""
    d = b - a
    return np.where(np.abs(d) <= _DUST * np.maximum(np.abs(a), np.abs(b)), 0.0, d)


def _squares(runs: Floats) -> Floats:
    """The sum of squares around the mean; exactly zero when all are the same."""
    squares = np.square(runs - runs.mean(axis=-1, keepdims=True)).sum(axis=-1)
    return np.where(np.ptp(runs, axis=-1) == 0, 0.0, squares)


def _weight(squares: Floats, freedom: int, history: History) -> tuple[Floats, Bools]:
    """How much the history counts, and whether the runs contradict it.

    The test is one-sided at heart: an sd that is too small makes false launches (13 % instead of
    10 %), one that is too large only costs power.
    """
    from scipy.special import fdtr

    weight = np.broadcast_to(np.asarray(history.weight, dtype=float), squares.shape)
    if freedom == 0 or not np.any(weight > 0):
        return weight, np.zeros(squares.shape, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = squares / freedom / np.square(history.sd)
    q = fdtr(freedom, np.maximum(weight, 1e-9), ratio)
    conflict = (weight > 0) & ((q > _TOO_LARGE) | (q < _TOO_SMALL))
    return np.where(conflict, 0.0, weight), conflict
