"""The keep rule: when to run a change again, when to keep it, when to run the baseline again.

Pure functions of numbers, apart from git and from running. Losses: lower is better. All of it is
vectorised over lineages; the referee uses one row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tunewright.referee import _effects as effects
from tunewright.referee._effects import Floats, Posterior, Prior

Bools = npt.NDArray[np.bool_]
_CONFIRMING = 2  # runs that show a small gain
_FAR = 0.8  # of the largest effect on the grid


@dataclass(frozen=True)
class Rule:
    """The constants of the rule; all sizes in sd of one run."""

    first_runs: int = 3  # of the first baseline
    most_runs: int = 6  # of one change
    worth: float = 0.1  # an expected gain below it is not kept
    confirmed: float = 0.0  # a smaller expected gain is kept after two runs at the earliest
    patience: float = 1.0  # times the gain that a run of a new change is expected to bring
    horizon: float = 12.0  # runs that profit from a better known baseline
    baseline_every: int = 25  # runs: the baseline is run again at least so often, against drift
    drift: float = 0.02  # sd: how far the machine may move between two runs
    tail: float = 6.0  # degrees of freedom of the noise where it is well known


@dataclass(frozen=True)
class Belief:
    """What is believed of the baseline of each lineage, in units of the metric."""

    mean: Floats  # of the current commit's loss
    variance: Floats  # of that belief
    total: Floats  # running gain from the first commit
    covariance: Floats  # of that gain and the baseline's mean
    squares: Floats  # of deviations between runs of one commit, summed
    freedom: Floats  # degrees of freedom of that sum

    @property
    def sd(self) -> Floats:
        """The standard deviation of one run."""
        return np.sqrt(self.squares / np.maximum(self.freedom, 1.0))

    def s(self) -> Floats:
        """How well the baseline is known, in sd of one run."""
        return np.sqrt(self.variance) / self.sd


def begin(values: Floats) -> Belief:
    """The belief after the first runs of the baseline, (lineages, runs), at least two each."""
    count = values.shape[1]
    mean = values.mean(axis=1)
    squares = ((values - mean[:, None]) ** 2).sum(axis=1)
    squares = np.maximum(squares, (1e-9 * np.maximum(np.abs(mean), 1e-9)) ** 2)
    nothing = np.zeros(len(mean))
    variance = squares / (count - 1) / count
    return Belief(mean, variance, nothing, nothing, squares, np.full(len(mean), count - 1.0))


def _freedom_for(belief: Belief, rule: Rule) -> Floats:
    """Degrees of freedom of the noise: few while its sd is known from few runs."""
    return np.clip(belief.freedom, 2.0, rule.tail)


def gains(belief: Belief, values: Floats) -> Floats:
    """Values of runs as gains over the believed baseline, in sd."""
    return np.asarray((belief.mean[:, None] - values) / belief.sd[:, None])


def _scale_of(belief: Belief, values: Floats) -> Floats:
    """The noise of a change's own runs in sd of the baseline's, shrunk: 8 imagined runs say 1."""
    count = (~np.isnan(values)).sum(axis=1)
    middle = np.nansum(values, axis=1) / np.maximum(count, 1)
    squares = np.nansum((values - middle[:, None]) ** 2, axis=1) / belief.sd**2
    return np.asarray(np.clip(np.sqrt((8 + squares) / (8 + np.maximum(count - 1, 0))), 0.7, 3.0))


def judge(belief: Belief, prior: Prior, values: Floats, rule: Rule) -> Posterior:
    """The posterior of one change, from the values of its runs (NaN: not made)."""
    freedom = _freedom_for(belief, rule)
    scale = _scale_of(belief, values)
    return effects.posterior(prior, belief.s(), gains(belief, values), freedom, scale)


@dataclass(frozen=True)
class Advice:
    """What to do with a change now; exactly one of the three is true."""

    again: Bools
    keep: Bools
    discard: Bools
    value_of_run: Floats  # what one more run is expected to add to the decision, in sd
    price: Floats  # what that run would bring if it tried a new change


def advise(
    belief: Belief,
    prior: Prior,
    effect: Posterior,
    runs: npt.NDArray[np.int64],
    complexity: Floats,
    rule: Rule,
    price: Floats | None = None,
) -> Advice:
    """Whether to run a change again, keep it, or discard it."""
    threshold = rule.worth + complexity
    freedom = _freedom_for(belief, rule)
    now = np.maximum(effect.effect - threshold, 0.0)
    added = np.maximum(effects.value_of_one_run(effect, threshold, freedom) - now, 0.0)
    cost = _price_of_run(belief, prior, threshold, rule) if price is None else price
    again = added > rule.patience * cost
    # a kept change stays: what a single run shows is confirmed, though a new change might gain more
    again |= (runs < _CONFIRMING) & (effect.effect > threshold) & (effect.effect < rule.confirmed)
    again &= runs < rule.most_runs
    keep = ~again & (effect.effect > threshold)
    return Advice(again, keep, ~again & ~keep, added, cost)


def _price_of_run(belief: Belief, prior: Prior, threshold: Floats, rule: Rule) -> Floats:
    """What one run of a new change is expected to gain: the price of every other run, in sd."""
    start = effects.fresh(prior, belief.s())
    return effects.value_of_one_run(start, threshold, _freedom_for(belief, rule))


def run_baseline(
    belief: Belief, prior: Prior, runs_since: npt.NDArray[np.int64], left: Floats, rule: Rule
) -> tuple[Bools, Floats]:
    """Whether the baseline deserves a run before the next change; and the price of a run."""
    threshold = np.full(len(left), rule.worth)
    price = _price_of_run(belief, prior, threshold, rule)
    known = 1 / (1 / np.maximum(belief.variance, 1e-300) + 1 / belief.sd**2)
    better = _price_of_run(replace(belief, variance=known), prior, threshold, rule)
    profit = np.minimum(rule.horizon, left) * (better - price)
    due = (runs_since >= rule.baseline_every) & (left > rule.baseline_every)
    return (profit > price) | due, price


def add_baseline_run(belief: Belief, value: Floats, rule: Rule) -> Belief:
    """The belief after another run of the current commit; an outlier counts less."""
    sd2 = belief.sd**2
    off = value - belief.mean
    spread = sd2 + belief.variance
    tail = _freedom_for(belief, rule)
    weight = np.minimum(1.0, (tail + 1) / (tail + off**2 / spread))
    share = belief.variance / (belief.variance + sd2 / weight)
    ratio = np.where(belief.variance > 0, belief.covariance / belief.variance, 0.0)
    squares = np.minimum(off**2, 16 * spread) * sd2 / spread
    return replace(
        belief,
        mean=belief.mean + share * off,
        variance=belief.variance * (1 - share),
        total=belief.total + ratio * share * off,
        covariance=belief.covariance * (1 - share),
        squares=belief.squares + squares,
        freedom=belief.freedom + 1,
    )


def after(belief: Belief, effect: Posterior, kept: Bools, values: Floats) -> Belief:
    """The belief after a change was kept or discarded, by matching moments.

    A gain beyond the grid of effects is taken from the values themselves.
    """
    sd = belief.sd
    count = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    mean = np.nansum(values, axis=1) / count
    least = np.nanmin(np.where(np.isnan(values), np.inf, gains(belief, values)), axis=1)
    far = kept & (least > _FAR * effects.LARGEST)
    ratio = np.where(belief.variance > 0, belief.covariance / belief.variance, 0.0)
    moved = ratio * sd * effect.error
    discarded = replace(
        belief,
        mean=belief.mean + sd * effect.error,
        variance=sd**2 * effect.error_variance,
        total=belief.total + moved,
        covariance=ratio * sd**2 * effect.error_variance,
    )
    covariance = -(ratio * effect.error_place + effect.effect_place) * sd**2
    updated = replace(
        belief,
        mean=np.where(kept, belief.mean - sd * effect.place, discarded.mean),
        variance=np.where(kept, sd**2 * effect.place_variance, discarded.variance),
        total=np.where(kept, belief.total + moved + sd * effect.effect, discarded.total),
        covariance=np.where(kept, covariance, discarded.covariance),
    )
    return replace(
        updated,
        mean=np.where(far, mean, updated.mean),
        variance=np.where(far, sd**2 / count, updated.variance),
        total=np.where(far, belief.total + belief.mean - mean, updated.total),
        covariance=np.where(far, -(sd**2) / count, updated.covariance),
    )


def add_noise(belief: Belief, values: Floats, rule: Rule) -> Belief:
    """Learn the noise from the repeated runs of one change (NaN: not made).

    The first run is left out: changes are run again because it stood out, so it would count as
    noise what was selected.
    """
    rest = values[:, 1:]
    count = (~np.isnan(rest)).sum(axis=1)
    middle = np.nansum(rest, axis=1) / np.maximum(count, 1)
    off = np.where(np.isnan(rest), 0.0, (rest - middle[:, None]) ** 2)
    off = np.minimum(off, 16 * belief.sd[:, None] ** 2)
    more = np.maximum(count - 1.0, 0.0)
    return replace(belief, squares=belief.squares + off.sum(axis=1), freedom=belief.freedom + more)


def after_drift(belief: Belief, rule: Rule) -> Belief:
    """The belief one run later: the machine may have moved a little."""
    return replace(belief, variance=belief.variance + (rule.drift * belief.sd) ** 2)


def summary(belief: Belief, values: Floats) -> tuple[Floats, Floats]:
    """What the prior learns from a change: the mean of its runs in sd, and its variance."""
    count = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    mean = np.nansum(gains(belief, values), axis=1) / count
    return mean, np.asarray(belief.s() ** 2 + 1.15 / count)
