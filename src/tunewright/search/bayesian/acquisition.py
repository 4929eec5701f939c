"""How much is to be gained by a trial at a point? Expected improvement, in logarithms.

Logarithms, since far from the best points the improvement itself is zero to any float, and a climb
would have no slope to follow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.search.bayesian.feasibility import log_probability
from tunewright.search.bayesian.gaussian_process import GaussianProcess

Array = npt.NDArray[np.float64]
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_BOUND = 1.8  # standard deviations below the mean, as Vizier has it


@dataclass(frozen=True)
class Acquisition:
    """What a trial is worth by a process of the objective, and by one of feasibility if given."""

    process: GaussianProcess
    best: float  # to be improved on
    feasible: GaussianProcess | None = None
    kind: Literal["improvement", "bound"] = "improvement"

    def at(self, features: Array) -> Array:
        """The worth at every row; more is better."""
        mean, sd = self.process.predict(features)
        worth = _BOUND * sd - mean if self.kind == "bound" else improvement(self.best, mean, sd)
        if self.feasible is not None:
            worth = worth + log_probability(*self.feasible.predict(features))
        return worth

    def slope(self, point: Array) -> tuple[float, Array]:
        """The worth at one point, and its slope along every feature."""
        from scipy.special import log_ndtr

        mean, sd, mean_slope, sd_slope = self.process.predict_slopes(point)
        if self.kind == "bound":
            worth, slope = _BOUND * sd - mean, _BOUND * sd_slope - mean_slope
        else:
            z = (self.best - mean) / sd
            relative = float(_log_standard(np.array([z]))[0])  # log EI without its log sd
            worth = relative + math.log(sd)
            below = math.exp(min(float(log_ndtr(z)) - worth, 600.0))
            density = math.exp(min(-0.5 * z * z - _LOG_SQRT_2PI - worth, 600.0))
            slope = density * sd_slope - below * mean_slope
        if self.feasible is None:
            return worth, slope
        mean, sd, mean_slope, sd_slope = self.feasible.predict_slopes(point)
        root = math.sqrt(1.0 + sd * sd)
        z = mean / root
        log_probable = float(log_ndtr(z))
        ratio = math.exp(min(-0.5 * z * z - _LOG_SQRT_2PI - log_probable, 600.0))
        z_slope = mean_slope / root - mean * sd * sd_slope / root**3
        return worth + log_probable, slope + ratio * z_slope


def improvement(best: float, mean: Array, sd: Array) -> Array:
    """The logarithm of the expected improvement below `best`.

    >>> improvement(0.0, np.array([0.0, 40.0]), np.array([1.0, 1.0])).round(3).tolist()
    [-0.919, -808.299]
    """
    return np.asarray(np.log(sd) + _log_standard((best - mean) / sd))


def _log_standard(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), exact far into the tail."""
    from scipy.special import erfcx, ndtr

    density = -0.5 * z * z - _LOG_SQRT_2PI
    high, low = np.maximum(z, -1.0), np.clip(z, -1e4, -1.0)
    near = np.log(np.exp(-0.5 * high * high - _LOG_SQRT_2PI) + high * ndtr(high))
    # phi + z Phi = phi (1 + z Phi / phi), and Phi / phi = sqrt(pi / 2) erfcx(-z / sqrt 2)
    tail = density + np.log1p(low * math.sqrt(math.pi / 2) * erfcx(-low / math.sqrt(2)))
    # where even 1 - z Phi/phi is rounded away: it is 1 / z^2 to first order
    far = density - 2.0 * np.log(np.maximum(-z, 1.0))
    return np.asarray(np.where(z > -1.0, near, np.where(z > -1e4, tail, far)))
