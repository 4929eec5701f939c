"""What changes usually do: a prior of effects, and what one change does after its runs.

An effect is measured in standard deviations of one run; positive is better. The prior has a point
mass at zero and an exponential on both sides. Everything here takes arrays: one row per lineage, so
that a bench simulates hundreds of lineages at once with the code that judges a single one.

Coordinates: `x` is the baseline's believed mean minus the change's true mean, in sd. The baseline's
own mean is off by `e`, normal with standard deviation `s`, so the effect is `x + e`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_SPACING = 0.125
LARGEST = 26.0  # sd: effects beyond it are judged as if they were this large
_GRID: Floats = np.arange(-LARGEST, LARGEST + _SPACING / 2, _SPACING)
_EVERY = 2  # nodes of the grid to one value that a next run may have
_NEXT: Floats = _GRID[::_EVERY]
_LIGHTEST = 8  # degrees of freedom of the noise, at most
RARE, GREAT = 0.003, 8.0  # of the good changes: a repaired bug may gain many sd; their mean, in sd
_SMALLEST_S = 0.12  # sd: a baseline is never known better than that


@dataclass(frozen=True)
class Prior:
    """Shares and mean sizes of good and bad changes; the rest does nothing."""

    good: Floats
    bad: Floats
    mean_good: Floats
    mean_bad: Floats


def prior(
    good: float = 0.12, bad: float = 0.43, mean_good: float = 0.7, mean_bad: float = 1.5
) -> Prior:
    """A prior for one lineage; by default the generic one."""
    return Prior(*(np.array([value]) for value in (good, bad, mean_good, mean_bad)))


@dataclass(frozen=True)
class Posterior:
    """What is known of one change of each lineage, in sd of one run."""

    weights: Floats  # (lineages, grid): of the change's place x
    effect_at: Floats  # (lineages, grid): mean effect, given x
    spread_at: Floats  # (lineages, grid): its variance, given x
    effect: Floats  # mean of the effect
    effect_sd: Floats
    better: Floats  # probability that it is positive
    place: Floats  # mean of x
    place_variance: Floats
    error: Floats  # mean of e: what the baseline's believed mean is off by
    error_variance: Floats
    error_place: Floats  # covariance of e and x
    effect_place: Floats  # covariance of the effect and x


def conditional(prior: Prior, s: Floats, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Log density of x, and mean, variance and P(positive) of the effect given x."""
    from scipy.special import log_ndtr

    s = s[:, None]
    x = np.broadcast_to(x, (len(s), x.shape[-1]))
    a, b = prior.mean_good[:, None], prior.mean_bad[:, None]
    good, bad = prior.good[:, None], prior.bad[:, None]
    none = np.log(np.maximum(1 - good - bad, 1e-9)) - 0.5 * (x / s) ** 2
    none = none - np.log(s) - 0.5 * np.log(2 * np.pi)
    up, up_mean, up_var = _one_side(x, s, a, log_ndtr)
    down, down_mean, down_var = _one_side(-x, s, b, log_ndtr)
    far, far_mean, far_var = _one_side(x, s, np.maximum(GREAT, 3 * a), log_ndtr)
    log_good = np.log(np.maximum(good, 1e-9))
    logs = np.stack(
        [
            none,
            log_good + np.log(1 - RARE) + up,
            np.log(np.maximum(bad, 1e-9)) + down,
            log_good + np.log(RARE) + far,
        ]
    )
    top = logs.max(axis=0)
    shares = np.exp(logs - top)
    total = shares.sum(axis=0)
    shares /= total
    mean = shares[1] * up_mean - shares[2] * down_mean + shares[3] * far_mean
    square = (
        shares[1] * (up_var + up_mean**2)
        + shares[2] * (down_var + down_mean**2)
        + shares[3] * (far_var + far_mean**2)
    )
    variance = np.maximum(square - mean**2, 0.0)
    return top + np.log(total), mean, variance, shares[1] + shares[3]


def _one_side(x: Floats, s: Floats, mean: Floats, log_ndtr: object) -> tuple[Floats, ...]:
    """Log density of x under an exponential effect; mean and variance of the effect."""
    middle = x - s**2 / mean
    z = middle / s
    below = log_ndtr(z)  # type: ignore[operator]
    density = -np.log(mean) - x / mean + s**2 / (2 * mean**2) + below
    hazard = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - below)
    variance = s**2 * np.maximum(1 - z * hazard - hazard**2, 1e-6)
    return density, np.maximum(middle + s * hazard, 0.0), variance


def log_t(r: Floats, freedom: Floats | float) -> Floats:
    """Log density of Student's t with unit scale, up to a constant of the freedom."""
    return np.asarray(-0.5 * (freedom + 1) * np.log1p(r**2 / freedom))


def posterior(prior: Prior, s: Floats, runs: Floats, freedom: Floats, scale: Floats) -> Posterior:
    """What the runs of a change tell: `runs` is (lineages, runs), believed mean minus value, in sd.

    NaN is a run that was not made. `scale` is the noise of the change's own runs, in sd of the
    baseline's. A value beyond the grid counts as one at its end.
    """
    s = np.maximum(s, _SMALLEST_S)
    logs, mean, variance, up = conditional(prior, s, _GRID[None])
    for k in range(runs.shape[1]):
        value = np.clip(runs[:, k : k + 1], -LARGEST, LARGEST)
        likelihood = log_t((value - _GRID[None]) / scale[:, None], freedom[:, None])
        logs = logs + np.where(np.isnan(value), 0.0, likelihood)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return _moments(weights, mean, variance, up)


def _moments(weights: Floats, mean: Floats, variance: Floats, up: Floats) -> Posterior:
    def average(values: Floats) -> Floats:
        return np.asarray((weights * values).sum(axis=1))

    effect, place = average(mean), average(_GRID[None] + 0 * weights)
    centred = _GRID[None] - place[:, None]
    off = mean - effect[:, None]
    inner = average(variance)
    return Posterior(
        weights=weights,
        effect_at=mean,
        spread_at=variance,
        effect=effect,
        effect_sd=np.sqrt(inner + average(off**2)),
        better=average(up),
        place=place,
        place_variance=np.maximum(average(centred**2), _SMALLEST_S**2),
        error=effect - place,
        error_variance=np.maximum(inner + average((off - centred) ** 2), _SMALLEST_S**2),
        error_place=average((off - centred) * centred),
        effect_place=average(off * centred),
    )


@lru_cache(maxsize=16)
def _kernel(freedom: int) -> Floats:
    """Density of a next run at each of NEXT, given each place of the grid; (grid, next)."""
    from math import lgamma

    constant = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * np.log(freedom * np.pi)
    return np.asarray(np.exp(log_t(_GRID[:, None] - _NEXT[None], freedom) + constant))


def value_of_one_run(believed: Posterior, threshold: Floats, freedom: Floats) -> Floats:
    """Expected gain of the decision if one more run is made before it, in sd.

    The decision is to keep if the expected effect exceeds the threshold, and gains what exceeds it.
    """
    value = np.zeros(len(threshold))
    degrees = _freedom_of(freedom)
    for degree in np.unique(degrees):
        rows = degrees == degree
        kernel = _kernel(int(degree))
        density = believed.weights[rows] @ kernel
        gain = (believed.weights[rows] * believed.effect_at[rows]) @ kernel
        better = np.maximum(gain - threshold[rows, None] * density, 0.0)
        value[rows] = better.sum(axis=1) * _SPACING * _EVERY
    return value


def _freedom_of(freedom: Floats) -> npt.NDArray[np.int64]:
    """Degrees of freedom of the noise as the kernels have them: whole, 2 to 8."""
    return np.asarray(np.clip(np.rint(freedom), 2, _LIGHTEST), dtype=np.int64)


def fresh(prior: Prior, s: Floats) -> Posterior:
    """What is known of a change before its first run."""
    nothing = np.full((len(s), 1), np.nan)
    return posterior(prior, s, nothing, np.full(len(s), 4.0), np.ones(len(s)))


def learn(generic: Prior, seen: Floats, variance: Floats, rounds: int = 8) -> Prior:
    """The prior of a project, learnt from its changes and shrunk to the generic one.

    `seen` is (lineages, changes): the mean of each change's runs, in sd, NaN where there is none;
    `variance` is its uncertainty. Expectation and maximisation, with 12 imagined changes of the
    generic prior.
    """
    learnt = generic
    known = ~np.isnan(seen)
    x = np.where(known, np.clip(seen, -LARGEST, LARGEST), 0.0)
    s = np.sqrt(np.where(known, variance, 1.0))
    for _ in range(rounds):
        shares, sizes = _responsibilities(learnt, x, s)
        counts = [np.where(known, share, 0.0).sum(axis=1) for share in shares]
        sums = [
            np.where(known, share * size, 0.0).sum(axis=1)
            for share, size in zip(shares, sizes, strict=True)
        ]
        total = known.sum(axis=1) + _IMAGINED
        learnt = Prior(
            good=(_IMAGINED * generic.good + counts[0]) / total,
            bad=(_IMAGINED * generic.bad + counts[1]) / total,
            mean_good=np.clip(
                (_SOLID_GOOD * generic.mean_good + sums[0]) / (_SOLID_GOOD + counts[0]), 0.1, 6.0
            ),
            mean_bad=np.clip(
                (_SOLID_BAD * generic.mean_bad + sums[1]) / (_SOLID_BAD + counts[1]), 0.2, 8.0
            ),
        )
    return learnt


_IMAGINED = 12.0
_SOLID_GOOD, _SOLID_BAD = 3.0, 5.0  # imagined changes behind the mean sizes


def _responsibilities(
    prior: Prior, x: Floats, s: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Shares of good and bad of each seen change, and their mean sizes."""
    from scipy.special import log_ndtr

    a, b = prior.mean_good[:, None], prior.mean_bad[:, None]
    up, up_mean, _ = _one_side(x, s, a, log_ndtr)
    down, down_mean, _ = _one_side(-x, s, b, log_ndtr)
    none = -0.5 * (x / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)
    logs = np.stack(
        [
            np.log(np.maximum(1 - prior.good - prior.bad, 1e-9))[:, None] + none,
            np.log(np.maximum(prior.good, 1e-9))[:, None] + up,
            np.log(np.maximum(prior.bad, 1e-9))[:, None] + down,
        ]
    )
    shares = np.exp(logs - logs.max(axis=0))
    shares /= shares.sum(axis=0)
    return (shares[1], shares[2]), (up_mean, down_mean)
