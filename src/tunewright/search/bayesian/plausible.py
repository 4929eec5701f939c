"""Which processes are plausible beside the most probable one, and where do they see the function?

A few trials are explained as well by a smooth function and noise as by a rough one without, and the
most probable parameters are one such story. So the share of noise in what was seen is gone through
from next to none to nearly all; for each, length scales and scale are found, and drawn around that
top from the normal distribution of its curvature. Each story counts by its posterior probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tunewright.search.bayesian.gaussian_process import (
    GaussianProcess,
    Parameters,
    Prior,
    column_squares,
    condition,
    fit_parameters,
    loss_and_slope,
)

Array = npt.NDArray[np.float64]
_SHARES = (1e-4, 1e-3, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.95)  # of the variance seen
_PINNED = 0.01  # standard deviation of the logarithm of a share that is held
_EACH = 4  # draws for every share, beside the top
_STEP = 0.02  # in logarithms, for the curvature
_DRAWS = 0x92  # what a stream of random numbers is for


@dataclass(frozen=True)
class Data:
    """What a process has learnt from, standardised."""

    features: Array
    values: Array
    doubt: Array  # variance of each value beside the noise that all have


@dataclass(frozen=True)
class Plausible:
    """Processes with their probabilities, which sum to 1."""

    processes: tuple[GaussianProcess, ...]
    weights: Array

    def quantiles(self, point: Array, probabilities: tuple[float, ...]) -> list[float]:
        """Of the function at one row of features, over all processes."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        means, sds = np.array([_with_mean_unknown(process, point) for process in self.processes]).T

        def over(x: float, probability: float) -> float:
            return float(self.weights @ ndtr((x - means) / sds)) - probability

        ends = float((means - 9 * sds).min()), float((means + 9 * sds).max())
        return [float(brentq(over, *ends, args=(p,))) for p in probabilities]


def plausible(parameters: Parameters, prior: Prior, fit: Data, data: Data) -> Plausible:
    """Parameters like these but found by `fit` for every share of noise, conditioned on `data`."""
    stories = list(_stories(parameters, prior, fit))
    logs = np.array([log for log, _ in stories])
    weights = np.exp(logs - logs.max())
    processes = tuple(
        condition(parameters, data.features, data.values, data.doubt, fit_mean=True)
        for _, parameters in stories
    )
    return Plausible(processes, weights / weights.sum())


def _stories(like: Parameters, prior: Prior, fit: Data) -> Iterator[tuple[float, Parameters]]:
    """Log posterior probability, but for a constant, and parameters."""
    columns = len(like.lengths)
    squares = column_squares(like.group, columns, fit.features)
    random = np.random.default_rng(_DRAWS)
    low, high = (np.array(ends)[:-1] for ends in zip(*prior.limits(columns), strict=True))
    for share in [s for s in _SHARES if s >= prior.least_noise] or _SHARES[-1:]:
        # all that was seen has variance 1: what is not noise is the function
        pinned = {"noise": math.log(share), "noise_sd": _PINNED, "scale": math.log(1 - share)}
        pinned_prior = replace(prior, **pinned)
        top = fit_parameters(
            like.kernel,
            like.group,
            columns=columns,
            features=fit.features,
            values=fit.values,
            prior=pinned_prior,
            doubt=fit.doubt,
        )
        logs = np.log([*top.lengths, top.scale, top.noise])
        given = (like.kernel, squares, fit.values, pinned_prior, fit.doubt)
        spread = _spread(logs, *given)
        volume = float(np.linalg.slogdet(spread)[1])
        weight = volume - loss_and_slope(logs, *given)[0]
        drawn = logs[:-1] + random.standard_normal((_EACH, columns + 1)) @ spread.T
        for place in np.exp(np.vstack([logs[:-1], np.clip(drawn, low, high)])):
            yield weight, replace(top, lengths=place[:-1], scale=float(place[-1]))


def _spread(logs: Array, *given: object) -> Array:
    """A root of the covariance of all logarithms but that of the noise."""
    prior = given[3]
    assert isinstance(prior, Prior)
    size = len(logs) - 1

    def slope(at: Array) -> Array:
        return loss_and_slope(at, *given)[1][:size]  # type: ignore[arg-type]

    moves = _STEP * np.eye(len(logs))[:size]
    curvature = np.array([slope(logs + move) - slope(logs - move) for move in moves]) / (2 * _STEP)
    steep, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    widest = float(prior.spread(size - 1).max())  # nowhere wider than before the data
    return np.asarray(axes / np.sqrt(np.maximum(steep, widest**-2)))


def _with_mean_unknown(process: GaussianProcess, point: Array) -> tuple[float, float]:
    """Mean and standard deviation at one row; that the fitted mean is a guess widens it."""
    from scipy.linalg import solve_triangular

    mean, sd = process.predict(point)
    cross = process.parameters.covariance(process.features, point)[:, 0]
    sides = np.stack([np.ones(len(cross)), cross], axis=1)
    constant, toward = solve_triangular(process.root, sides, lower=True, check_finite=False).T
    left = 1.0 - float(constant @ toward)
    return float(mean[0]), math.sqrt(float(sd[0]) ** 2 + left**2 / float(constant @ constant))
