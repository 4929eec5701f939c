"""How probable is it that a trial is feasible? A Gaussian process of which trials were.

The likelihood is probit, the posterior Laplace's approximation (Rasmussen and Williams, 3.4), which
is again a Gaussian process and is kept as one. Before any data a trial is feasible with PRIOR.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tunewright.search.gaussian_process import (
    GaussianProcess,
    Kernel,
    Parameters,
    Prior,
    fitted,
)

Array = npt.NDArray[np.float64]
PRIOR = 0.8  # share of the authors' published trials that did not diverge is 0.4 to 0.85
SCALE = 4.0  # variance of the latent function: probabilities near 0 and 1 can be reached
MOST_STEPS = 30
LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def learned_feasibility(
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
    found = fitted(kernel, group, columns, features, (signs - signs.mean()) / spread, prior)
    parameters = Parameters(kernel, group, found.lengths, SCALE, 0.0)
    return _laplace(parameters, features, signs)


def log_probability(mean: Array, sd: Array) -> Array:
    """The logarithm of the probability to be feasible where the latent function is so."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(mean / np.sqrt(1.0 + sd * sd)))


def _laplace(parameters: Parameters, features: Array, signs: Array) -> GaussianProcess:
    """Newton's method for the mode, and the process that has its mean and doubt."""
    from scipy.linalg import cho_solve, cholesky
    from scipy.special import ndtri

    mean = float(ndtri(PRIOR)) * math.sqrt(1.0 + SCALE)
    covariance = parameters.covariance(features, features) + 1e-8 * np.eye(len(signs))
    latent = np.full(len(signs), mean)
    for _ in range(MOST_STEPS):
        slope, curve = _likelihood(latent, signs)
        half = np.sqrt(curve)
        inner = np.eye(len(signs)) + half[:, None] * covariance * half[None, :]
        root = cholesky(inner, lower=True, check_finite=False)
        goal = curve * (latent - mean) + slope
        lifted = half * (covariance @ goal)
        step = goal - half * cho_solve((root, True), lifted, check_finite=False)
        before, latent = latent, mean + covariance @ step
        if float(np.max(np.abs(latent - before), initial=0.0)) < 1e-6:
            break
    slope, curve = _likelihood(latent, signs)
    # covariance of the data as a regression would have it: K + 1 / curvature
    noisy = covariance + np.diag(1.0 / np.maximum(curve, 1e-10))
    root = cholesky(noisy, lower=True, check_finite=False)
    return GaussianProcess(parameters, features, mean, root, slope)


def _likelihood(latent: Array, signs: Array) -> tuple[Array, Array]:
    """Slope and minus the curvature of the log likelihood of every trial."""
    from scipy.special import log_ndtr

    z = signs * latent
    ratio = np.exp(-0.5 * z * z - LOG_SQRT_2PI - log_ndtr(z))
    return signs * ratio, np.maximum(ratio * (ratio + z), 1e-10)
