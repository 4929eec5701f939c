"""Response surfaces with a known answer: what the objective is at a position of the unit cube.

A surface takes positions by column and gives the objective, lower being better, or None where
training would diverge. They are wrapped into each other:
`Walled(Bowl({"learning_rate": 0.6}), {"learning_rate": 1.0}, above=0.7)`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tunewright.errors import DesignError

Surface = Callable[[Mapping[str, float]], float | None]


@dataclass(frozen=True)
class Bowl:
    """A quadratic with this optimum; a hyperparameter without one is irrelevant.

    >>> Bowl({"learning_rate": 0.5})({"learning_rate": 0.7, "irrelevant": 0.1})
    0.24
    """

    optimum: Mapping[str, float]  # column -> position; beyond 0 or 1 is outside the search space
    curvature: Mapping[str, float] = field(default_factory=dict)  # 1 where it is not given
    best: float = 0.2

    def __call__(self, unit: Mapping[str, float]) -> float:
        """The objective at a position; columns that are not active do not count."""
        rises = (
            self.curvature.get(column, 1.0) * (unit[column] - place) ** 2
            for column, place in self.optimum.items()
            if column in unit
        )
        return round(self.best + sum(rises), 12)


@dataclass(frozen=True)
class Basin:
    """Flat but for a narrow basin around the optimum."""

    optimum: Mapping[str, float]
    width: float = 0.1
    depth: float = 0.8
    best: float = 0.2

    def __call__(self, unit: Mapping[str, float]) -> float:
        """The objective at a position."""
        squares = sum(
            ((unit[c] - place) / self.width) ** 2 for c, place in self.optimum.items() if c in unit
        )
        return self.best + self.depth * (1 - math.exp(-squares))


@dataclass(frozen=True)
class Walled:
    """Diverges where a weighted sum of positions is above a threshold.

    One column: all learning rates above a value. Two: a product or, with a negative weight, a ratio
    of hyperparameters on log scales, such as learning_rate / (1 - momentum).
    """

    inside: Surface
    weights: Mapping[str, float]
    above: float

    def __call__(self, unit: Mapping[str, float]) -> float | None:
        """The objective at a position, or None beyond the wall."""
        if sum(w * unit[c] for c, w in self.weights.items() if c in unit) > self.above:
            return None
        return self.inside(unit)


@dataclass(frozen=True)
class Unlucky:
    """Diverges at random, at a share of all positions, whatever the hyperparameters are."""

    inside: Surface
    share: float
    seed: int = 0

    def __call__(self, unit: Mapping[str, float]) -> float | None:
        """The objective at a position, or None with the given probability."""
        place = repr((self.seed, sorted(unit.items()))).encode()
        drawn = int.from_bytes(hashlib.blake2b(place, digest_size=8).digest()) / 2**64
        return None if drawn < self.share else self.inside(unit)


def trial_noise(
    random: np.random.Generator, count: int, kind: str = "normal"
) -> npt.NDArray[np.float64]:
    """What a new seed adds to the objective of `count` trials, of standard deviation 1.

    `normal`; `skew`: log-normal with the long tail on the good (lower) side; `t3`; `outlier`:
    normal, but one trial in twenty is 8 worse (its standard deviation is above 1).
    """
    if kind == "normal":
        return random.normal(size=count)
    if kind == "skew":
        sigma = 0.75
        drawn = random.lognormal(0.0, sigma, count)
        mean, sd = math.exp(sigma**2 / 2), math.sqrt(math.expm1(sigma**2)) * math.exp(sigma**2 / 2)
        return -(drawn - mean) / sd
    if kind == "t3":
        return random.standard_t(3, count) / math.sqrt(3)
    if kind == "outlier":
        return random.normal(size=count) + 8.0 * (random.random(count) < 0.05)
    raise DesignError("testing.unknown_trial_noise", kind=kind)
