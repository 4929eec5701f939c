"""How probable is it that a trial is feasible? A Gaussian process of which trials were.

The likelihood is probit, the posterior found by expectation propagation (Rasmussen and Williams,
3.6) and kept as the Gaussian process that it is. Laplace's approximation is simpler, but so unsure
that after 60 trials it predicts 0.82 far inside what is feasible. Before any data it predicts
PRIOR.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tunewright.search.bayesian.gaussian_process import (
    GaussianProcess,
    Kernel,
    Parameters,
    Prior,
    fit_parameters,
)

Array = npt.NDArray[np.float64]
PRIOR = 0.8  # of the authors' published trials 38 to 84 % did not diverge
SCALE = 10.0  # variance of the latent function, on which 2 means a probability of 0.98
_DAMPING = 0.8
_LEAST_PRECISION = 1e-6
_MOST_STEPS = 40
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def learn_feasibility(
    kernel: Kernel,
    group: npt.NDArray[np.intp],
    columns: int,
    features: Array,
    feasible: npt.NDArray[np.bool_],
    prior: Prior,
) -> GaussianProcess:
    """The latent process of which trials were feasible; length scales by regression on them."""
    signs = np.where(feasible, 1.0, -1.0)
    spread = float(signs.std()) or 1.0
    fitted = fit_parameters(
        kernel, group, columns, features, (signs - signs.mean()) / spread, prior
    )
    return _propagate(Parameters(kernel, group, fitted.lengths, SCALE, 0.0), features, signs)


def log_probability(mean: Array, sd: Array) -> Array:
    """The logarithm of the probability to be feasible where the latent function is so."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(mean / np.sqrt(1.0 + sd * sd)))


def _propagate(parameters: Parameters, features: Array, signs: Array) -> GaussianProcess:
    """Expectation propagation, all trials at once: each becomes a normal observation."""
    from scipy.linalg import cho_solve, cholesky, solve_triangular
    from scipy.special import log_ndtr, ndtri

    count = len(signs)
    mean = float(ndtri(PRIOR)) * math.sqrt(1.0 + parameters.scale)
    covariance = parameters.covariance(features, features) + 1e-8 * np.eye(count)
    precision, pull = np.full(count, _LEAST_PRECISION), np.full(count, _LEAST_PRECISION * mean)
    for _ in range(_MOST_STEPS):
        half = np.sqrt(precision)
        inner = np.eye(count) + half[:, None] * covariance * half[None, :]
        root = cholesky(inner, lower=True, check_finite=False)
        solved = solve_triangular(root, half[:, None] * covariance, lower=True, check_finite=False)
        posterior = covariance - solved.T @ solved
        variance = np.maximum(np.diag(posterior), 1e-10)
        middle = mean + posterior @ (pull - precision * mean)
        # what the others predict of each trial, then what its own outcome adds
        others = np.maximum(1.0 / variance - precision, 1e-10)
        place = (middle / variance - pull) / others
        wide = 1.0 + 1.0 / others
        z = signs * place / np.sqrt(wide)
        ratio = np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_ndtr(z))
        moved = place + signs * ratio / (others * np.sqrt(wide))
        left = np.maximum(1.0 / others - ratio * (z + ratio) / (others**2 * wide), 1e-10)
        wanted = np.maximum(1.0 / left - others, _LEAST_PRECISION)
        wanted_pull = moved * (wanted + others) - place * others
        change = float(np.max(np.abs(wanted - precision), initial=0.0))
        precision = precision + _DAMPING * (wanted - precision)
        pull = pull + _DAMPING * (wanted_pull - pull)
        if change < 1e-4:
            break
    # as in a regression: every trial observed with separate noise
    root = cholesky(covariance + np.diag(1.0 / precision), lower=True, check_finite=False)
    weights = cho_solve((root, True), pull / precision - mean, check_finite=False)
    return GaussianProcess(parameters, features, mean, root, weights)
