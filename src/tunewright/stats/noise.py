"""How noisy is a curve? An estimate that neither a trend nor a kink can fool.

Every trend check divides an effect by its standard error, so everything hangs on the noise. It is
taken as AR(1) (neighbouring evaluations resemble each other) and estimated twice from the last
three quarters of a curve:

- *detrended*: the residuals of a flexible fit, with the small-sample bias of their lag-1
  correlation removed exactly and one standard error of safety added. A sharp late rise that the
  fit cannot follow would pass for noise here, so there is
- *a ceiling*: the noise an AR(1) of 0.8 would have, read off second differences, which kinks and
  jumps cannot inflate.

The smaller of the two (by the variance of a long mean) counts. Without the ceiling a late rise of
15 % of the improvement was found never (40 evaluations, noise 0.25 % of the improvement), with it
in 97 % of curves; docs/methods_curves.md has the rates of every check built on this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

Floats = npt.NDArray[np.float64]

FEWEST = 20  # evaluations: below it nothing is calibrated and no curve is judged
ROBUST = 1.4826  # a median absolute deviation times this is a Gaussian standard deviation
_CEILING_CORRELATION = 0.8
_CEILING_FACTOR = 1.25  # the ceiling is meant to be too high rather than too low
SECOND_DIFFERENCE_VARIANCE = 0.88  # of an AR(1) of 0.8 with variance 1: 6 - 8 rho + 2 rho^2
_LARGEST_LOCAL_FACTOR = 5.0
_CORRELATIONS = np.concatenate([np.arange(0, 0.9, 0.05), [0.9, 0.93, 0.95, 0.97]])


@dataclass(frozen=True, eq=False)
class NoisyCurves:
    """Curves of one length, one to a row, lower is better, with the noise found on each."""

    values: Floats  # (curves, evaluations), lone outliers clipped
    sd: Floats  # (curves,) of a single evaluation
    correlation: Floats  # (curves,) between neighbouring evaluations

    @property
    def evaluations(self) -> int:
        """How many evaluations each curve has."""
        return int(self.values.shape[1])

    @property
    def width(self) -> int:
        """How many evaluations a moving mean spans: a tenth of them, at least 3."""
        return max(3, round(0.1 * self.evaluations))

    @cached_property
    def means(self) -> Floats:
        """The moving means."""
        return moving_mean(self.values, self.width)

    @cached_property
    def best(self) -> Floats:
        """The lowest moving mean of each curve."""
        return np.asarray(self.means.min(axis=1))

    @cached_property
    def total(self) -> Floats:
        """The improvement of each curve: from the median of its first 5 % to its best."""
        first = max(1, round(0.05 * self.evaluations))
        improvement = np.median(self.values[:, :first], axis=1) - self.best
        return np.maximum(improvement, _negligible(self.values))

    @cached_property
    def local_factor(self) -> Floats:
        """How much noisier each curve is around each evaluation than over its last 75 %."""
        return _local_factor(self.values)

    def factor_at(self, position: npt.NDArray[np.int64] | int) -> Floats:
        """The local factor at one evaluation of each curve, where a quiet place counts as 1."""
        rows = np.arange(len(self.values))
        at = np.clip(position, 0, self.evaluations - 1)
        return np.asarray(np.maximum(1.0, self.local_factor[rows, at]))

    def mean_sd(self, width: int) -> Floats:
        """The standard error of a mean of `width` neighbouring evaluations."""
        return self.sd * np.sqrt(mean_variance(self.correlation, width))


def noisy_curves(values: npt.ArrayLike) -> NoisyCurves:
    """Clip lone outliers and estimate the noise of each curve; lower must be better."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] < FEWEST:
        raise ValueError(f"curves of shape {rows.shape}: at least {FEWEST} evaluations are needed")
    hidden = _quantisation_noise(rows)
    clipped = _clip_outliers(rows, hidden)
    return NoisyCurves(clipped, *noise(clipped, hidden))


def _quantisation_noise(values: Floats) -> Floats:
    """The noise a coarse metric hides: 0.3 of its smallest move, when it often stands still.

    It is read off the values as logged: clipping would leave moves of any size.
    """
    moves = np.abs(np.diff(values, axis=1))
    smallest = np.where(moves > 0, moves, np.inf).min(axis=1)
    stands_still = (moves == 0).mean(axis=1) > 0.3
    return np.where(stands_still & np.isfinite(smallest), 0.3 * smallest, 0.0)


def _clip_outliers(values: Floats, hidden: Floats) -> Floats:
    """Each evaluation moved to within 5 robust standard deviations of its running median of 5."""
    mirrored = np.concatenate([values[:, 2:0:-1], values, values[:, -2:-4:-1]], axis=1)
    running = np.median(sliding_window_view(mirrored, 5, axis=1), axis=-1)
    late = np.abs(values - running)[:, _steep_start(values) :]
    # 1.25: a running median follows the noise a little, so distances from it come out small
    sd = 1.25 * ROBUST * np.median(late, axis=1)
    sd = np.maximum(np.maximum(sd, hidden), 1e-9 * np.abs(values).max(axis=1))[:, None]
    return np.clip(values, running - 5 * sd, running + 5 * sd)


def noise(values: Floats, hidden: Floats) -> tuple[Floats, Floats]:
    """Standard deviation (at least the hidden one) and lag-1 correlation of each curve's noise."""
    late = values[:, _steep_start(values) :]
    sd, correlation = _detrend(late)
    ceiling = _ceiling(late, values.shape[1])
    floor = np.maximum(hidden, _negligible(values))
    sd, ceiling = np.maximum(sd, floor), np.maximum(ceiling, floor)
    assumed = np.full_like(correlation, _CEILING_CORRELATION)
    lower = ceiling**2 * _long_run(assumed) < sd**2 * _long_run(correlation)
    return np.where(lower, ceiling, sd), np.where(lower, assumed, correlation)


def mean_variance(correlation: Floats, width: int) -> Floats:
    """Variance of a mean of `width` AR(1) values, in units of one value's variance.

    >>> mean_variance(np.array([0.0, 0.8]), 10).round(3)
    array([0.1  , 0.543])
    """
    lags = np.arange(1, width)[:, None]
    shared = ((1 - lags / width) * correlation[None] ** lags).sum(axis=0)
    return np.asarray((1 + 2 * shared) / width)


def slope_variance(correlation: Floats, width: int) -> Floats:
    """Variance of a least-squares slope over `width` AR(1) values, same units, per evaluation."""
    return np.interp(correlation, _CORRELATIONS, _slope_table(width))


def moving_mean(values: Floats, width: int) -> Floats:
    """Means of every `width` neighbours."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    return np.asarray((sums[:, width:] - sums[:, :-width]) / width)


def _steep_start(values: Floats) -> int:
    """How many evaluations the first quarter has: too steep to show noise."""
    return int(values.shape[1]) // 4


def _negligible(values: Floats) -> Floats:
    """What is as good as zero beside these curves, and still divides without overflow."""
    return np.asarray(1e-12 * np.abs(values).max(axis=1) + 1e-150)


def _long_run(correlation: Floats) -> Floats:
    """Variance of a long mean times its length, relative to one value's variance."""
    return np.asarray((1 + correlation) / (1 - correlation))


def _detrend(late: Floats) -> tuple[Floats, Floats]:
    length = late.shape[1]
    basis, lag_one, trace = _residual_table(length)
    residuals = late - (late @ basis) @ basis.T
    limit = 4 * ROBUST * np.median(np.abs(residuals), axis=1, keepdims=True)
    residuals = np.clip(residuals, -limit, limit)
    squares = (residuals**2).sum(axis=1) + 1e-300
    seen = (residuals[:, 1:] * residuals[:, :-1]).sum(axis=1) / squares
    correlation = np.interp(seen + 1 / np.sqrt(length), lag_one, _CORRELATIONS)
    return np.sqrt(squares / np.interp(correlation, _CORRELATIONS, trace)), correlation


@lru_cache(maxsize=256)
def _residual_table(length: int) -> tuple[Floats, Floats, Floats]:
    """The fit's basis, and what its residuals' correlation and sum of squares are expected to be.

    With R the AR(1) matrix and M the residual maker: tr_1(MRM)/tr(MRM) and tr(MRM), for each of
    CORRELATIONS. Residuals of a flexible fit look less correlated than the noise they came from;
    reading the table backwards removes that bias.
    """
    time = np.arange(1, length + 1) / length
    columns = [np.ones(length), time, time**2, np.log(time + 1 / 3)]
    if length >= 30:
        columns += [np.maximum(time - hinge, 0) for hinge in (0.33, 0.67)]
    basis, _ = np.linalg.qr(np.stack(columns, axis=1))
    lag_one, trace = [], []
    for correlation in _CORRELATIONS:
        covariance = _correlation_matrix(length, correlation)
        half = covariance - basis @ (basis.T @ covariance)
        residual = half - (half @ basis) @ basis.T
        trace.append(np.trace(residual))
        lag_one.append(np.trace(residual, offset=1) / trace[-1])
    return basis, np.array(lag_one), np.array(trace)


@lru_cache(maxsize=256)
def _slope_table(width: int) -> Floats:
    time = np.arange(width) - (width - 1) / 2
    variances = [time @ _correlation_matrix(width, c) @ time for c in _CORRELATIONS]
    return np.asarray(np.array(variances) / (time @ time) ** 2)


def _correlation_matrix(length: int, correlation: float) -> Floats:
    powers = np.power(correlation, np.arange(length))
    at = np.arange(length)
    return np.asarray(powers[np.abs(at[:, None] - at[None])])


def _ceiling(late: Floats, evaluations: int) -> Floats:
    bends = np.diff(late, n=2, axis=1)
    bends = np.abs(bends - np.median(bends, axis=1, keepdims=True))
    spread = ROBUST * np.median(bends, axis=1) / np.sqrt(SECOND_DIFFERENCE_VARIANCE)
    # 8/E: the spread of few second differences is itself uncertain
    return np.asarray(_CEILING_FACTOR * (1 + 8 / evaluations) * spread)


def _local_factor(values: Floats) -> Floats:
    evaluations = values.shape[1]
    window = max(9, round(0.2 * evaluations)) | 1
    moves = np.diff(values, axis=1)
    moves = np.abs(moves - np.median(moves[:, _steep_start(values) :], axis=1, keepdims=True))
    starts = moves.shape[1] - window + 1
    # medians at 25 places are enough: the factor changes slowly
    places = np.unique(np.linspace(0, starts - 1, 25).astype(int))
    spread = np.median(sliding_window_view(moves, window, axis=1)[:, places], axis=-1)
    usual = np.median(moves[:, _steep_start(values) :], axis=1, keepdims=True)
    centres = np.clip(np.arange(evaluations) - window // 2, 0, starts - 1)
    nearest = np.abs(np.arange(starts)[:, None] - places[None]).argmin(axis=1)[centres]
    ratio = spread / (usual + _negligible(values)[:, None])
    return np.asarray(np.minimum(ratio[:, nearest], _LARGEST_LOCAL_FACTOR))
