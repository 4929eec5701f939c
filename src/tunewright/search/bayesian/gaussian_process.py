"""A Gaussian process with one length scale per hyperparameter, fitted by maximum posterior.

Written by hand in numpy: a search without state fits anew at every question, and 100 trials take
some 10 ms here where Optuna's takes 120 and BoTorch's 700 (docs/methods_search.md).

Values are expected to be standardised. The function is never seen itself, only with noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_LEAST_VARIANCE = 1e-12
KNOWN = 1e-4  # variance of what is taken as known
_CLIMB = {"maxiter": 40, "ftol": 1e-5, "gtol": 1e-3}


@dataclass(frozen=True)
class Kernel:
    """A correlation as a function of the squared distance, in length scales."""

    correlation_and_slope: Callable[[Array], tuple[Array, Array]]


def _matern(squared: Array) -> tuple[Array, Array]:
    root5 = np.sqrt(5.0 * squared)
    decay = np.exp(-root5)
    return decay * (1 + root5 + root5 * root5 / 3), decay * (1 + root5) * (-5.0 / 6.0)


def _gaussian(squared: Array) -> tuple[Array, Array]:
    correlation = np.exp(-0.5 * squared)
    return correlation, -0.5 * correlation


MATERN = Kernel(_matern)  # 5/2: twice differentiable, the field's default
GAUSSIAN = Kernel(_gaussian)  # infinitely smooth


@dataclass(frozen=True)
class Prior:
    """What is believed of the parameters before the data: normal distributions of logarithms.

    Length scales grow with the root of the number of dimensions, as distances do.
    """

    length: float = -1.6  # of a length scale in one dimension, in ranges
    length_sd: float = math.sqrt(3.0)
    scale: float = 0.0  # of the variance of the function
    scale_sd: float = 1.0
    noise: float = -5.0  # of the variance of the noise
    noise_sd: float = 1.5
    least_noise: float = 1e-5
    shortest: float = 0.03
    longest: float = 30.0

    def centre(self, columns: int) -> Array:
        """The middle of the distribution of the logarithms."""
        length = self.length + 0.5 * math.log(max(columns, 1))
        return np.array([length] * columns + [self.scale, self.noise])

    def spread(self, columns: int) -> Array:
        """Its standard deviations."""
        return np.array([self.length_sd] * columns + [self.scale_sd, self.noise_sd])

    def limits(self, columns: int) -> list[tuple[float, float]]:
        """Where the logarithms are looked for."""
        lengths = (math.log(self.shortest), math.log(self.longest))
        return [lengths] * columns + [(-6.0, 4.0), (math.log(self.least_noise), math.log(10.0))]


@dataclass(frozen=True)
class Parameters:
    """Of a process: what `fit_parameters` finds."""

    kernel: Kernel
    group: npt.NDArray[np.intp]  # for every feature, the column whose length scale it has
    lengths: Array  # one per column
    scale: float  # variance of the function
    noise: float  # variance of the noise

    def covariance(self, a: Array, b: Array) -> Array:
        """Between the function at the rows of two matrices of features."""
        lengths = self.lengths[self.group]
        correlation, _ = self.kernel.correlation_and_slope(_squares(a / lengths, b / lengths))
        return self.scale * correlation


@dataclass(frozen=True)
class GaussianProcess:
    """A process conditioned on data."""

    parameters: Parameters
    features: Array  # one row per point
    mean: float  # far from all data
    root: Array  # lower Cholesky factor of the covariance of the data
    weights: Array  # the inverse of that covariance times the values above the mean

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the function at every row."""
        cross = self.parameters.covariance(self.features, features)
        solved = _solve(self.root, cross)
        variance = self.parameters.scale - np.einsum("ij,ij->j", solved, solved)
        return self.mean + self.weights @ cross, np.sqrt(np.maximum(variance, _LEAST_VARIANCE))

    def predict_jointly(self, features: Array) -> tuple[Array, Array]:
        """Mean of the function at every row, and the covariance between the rows."""
        cross = self.parameters.covariance(self.features, features)
        solved = _solve(self.root, cross)
        between = self.parameters.covariance(features, features)
        return self.mean + self.weights @ cross, between - solved.T @ solved

    def predict_slopes(self, point: Array) -> tuple[float, float, Array, Array]:
        """Mean, standard deviation, and the slope of each along every feature, at one point."""
        parameters = self.parameters
        lengths = parameters.lengths[parameters.group]
        away = (point - self.features) / lengths
        correlation, slope = parameters.kernel.correlation_and_slope(
            np.einsum("ij,ij->i", away, away)
        )
        cross = parameters.scale * correlation
        slopes = (2.0 * parameters.scale * slope)[:, None] * away / lengths
        solved = _solve(self.root, cross)
        sd = math.sqrt(max(parameters.scale - float(solved @ solved), _LEAST_VARIANCE))
        inverse = _solve(self.root, solved, transposed=True)
        mean = self.mean + float(self.weights @ cross)
        return mean, sd, self.weights @ slopes, -(inverse @ slopes) / sd

    def believing(self, features: Array) -> GaussianProcess:
        """The process as if the function were known, as predicted, at these points: doubt shrinks.

        Known, not seen with noise: a batch would otherwise crowd where noise leaves some doubt.
        """
        process = self
        for point in features:
            cross = process.parameters.covariance(process.features, point[None, :])[:, 0]
            row = _solve(process.root, cross)
            left = process.parameters.scale + KNOWN - float(row @ row)
            size = len(row)
            root = np.zeros((size + 1, size + 1), order="F")
            root[:size, :size] = process.root
            root[size, :size] = row
            root[size, size] = math.sqrt(max(left, _LEAST_VARIANCE))
            process = replace(
                process,
                features=np.vstack([process.features, point]),
                root=root,
                weights=np.append(
                    process.weights, 0.0
                ),  # what came as predicted moves no prediction
            )
        return process


def condition(
    parameters: Parameters,
    features: Array,
    values: Array,
    doubt: Array | float = 0.0,
    fit_mean: bool = False,
) -> GaussianProcess:
    """The process with these parameters, given the data; its mean is 0, or what fits best.

    `doubt` is a variance of each value beside the noise that they all have.
    """
    root = _root(parameters.covariance(features, features), parameters.noise + doubt)
    mean = 0.0
    if fit_mean:
        constant = _solve(root, _solve(root, np.ones(len(values))), transposed=True)
        mean = float(constant @ values / constant.sum())
    weights = _solve(root, _solve(root, values - mean), transposed=True)
    return GaussianProcess(parameters, features, mean, root, weights)


def fit_parameters(
    kernel: Kernel,
    group: npt.NDArray[np.intp],
    columns: int,
    features: Array,
    values: Array,
    prior: Prior,
    doubt: Array | float = 0.0,
) -> Parameters:
    """The most probable parameters: the better of two climbs, one from where noise explains much.

    From one start alone, a climb ends now and then where everything is noise.
    """
    from scipy.optimize import minimize

    squares = column_squares(group, columns, features)
    centre, limits = prior.centre(columns), prior.limits(columns)
    low, high = (np.array(ends) for ends in zip(*limits, strict=True))
    smoother = centre + np.array([1.5] * columns + [0.0, 3.0])
    best: tuple[float, Array] | None = None
    for start in (centre, smoother):
        climbed = minimize(
            loss_and_slope,
            np.clip(start, low, high),
            args=(kernel, squares, values, prior, doubt),
            jac=True,
            method="L-BFGS-B",
            bounds=limits,
            options=_CLIMB,
        )
        if best is None or climbed.fun < best[0]:
            best = (float(climbed.fun), climbed.x)
    assert best is not None
    lengths, scale, noise = np.split(np.exp(best[1]), [columns, columns + 1])
    return Parameters(kernel, group, lengths, float(scale[0]), float(noise[0]))


def column_squares(group: npt.NDArray[np.intp], columns: int, features: Array) -> Array:
    """The squared distance of every pair of points along every column: columns, points, points."""
    squares = np.zeros((columns, len(features), len(features)))
    for feature, column in enumerate(group):
        axis = features[:, feature]
        squares[column] += (axis[:, None] - axis[None, :]) ** 2
    return squares


def loss_and_slope(
    logs: Array,
    kernel: Kernel,
    squares: Array,
    values: Array,
    prior: Prior,
    doubt: Array | float = 0.0,
) -> tuple[float, Array]:
    """Minus the log posterior of the logarithms of lengths, scale and noise; and its slope."""
    from scipy.linalg import lapack

    columns, size = squares.shape[0], len(values)
    scale, noise = math.exp(logs[-2]), math.exp(logs[-1])
    shrink = np.exp(-2.0 * logs[:columns])
    flat = squares.reshape(columns, -1)
    correlation, fall = kernel.correlation_and_slope((shrink @ flat).reshape(size, size))
    root = _root(scale * correlation, noise + doubt)
    weights = _solve(root, _solve(root, values), transposed=True)
    inverse, _ = lapack.dpotri(root, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    excess = inverse - np.outer(weights, weights)  # twice the slope along the covariance
    away = (logs - prior.centre(columns)) / prior.spread(columns)
    loss = 0.5 * float(values @ weights) + float(np.log(np.diag(root)).sum())
    slope = away / prior.spread(columns)
    slope[:columns] -= scale * (flat @ (excess * fall).ravel()) * shrink
    slope[-2] += 0.5 * scale * float(np.sum(excess * correlation))
    slope[-1] += 0.5 * noise * float(np.trace(excess))
    return loss + 0.5 * float(away @ away), slope


def _squares(a: Array, b: Array) -> Array:
    """Squared distances between the rows of two matrices."""
    squared = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(squared, 0.0))


def _solve(root: Array, right: Array, transposed: bool = False) -> Array:
    """By a lower factor; LAPACK itself, since SciPy's checks take longer than 100 points do."""
    from scipy.linalg import lapack

    solution, _ = lapack.dtrtrs(root, right, lower=1, trans=int(transposed))
    return np.asarray(solution)


def _root(covariance: Array, noise: Array | float) -> Array:
    """The lower Cholesky factor with the noise on the diagonal, and as much more as it needs."""
    from scipy.linalg import lapack

    more = 0.0
    while True:
        noisy = np.array(covariance, order="F")
        np.fill_diagonal(noisy, np.diag(covariance) + noise + more)
        root, failed = lapack.dpotrf(noisy, lower=1, clean=1, overwrite_a=1)
        if not failed:
            return np.asarray(root)
        more = max(10.0 * more, 1e-8)
