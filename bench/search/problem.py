"""A problem to search: a space, the truth at every configuration, and what a trial of it observes.

Lower is better. None stands for a trial that diverged, ran out of memory or was otherwise
infeasible. Regret is normalised: 0 at the optimum, 1 at the median feasible configuration of the
box and anywhere worse, so that problems of different units can be averaged.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tunewright as tw
from tunewright.design.ranges import Value
from tunewright.design.study import Study

Kind = Literal["diverging", "feasible", "real"]
Configuration = Mapping[str, Value]
KINDS: tuple[Kind, ...] = ("diverging", "feasible", "real")
REFERENCES = Path(__file__).parent / "references.json"


@dataclass(frozen=True)
class Reference:
    """What regret is measured by: found by `python -m bench.search check`, kept in the tree."""

    optimum: float  # the lowest truth
    median: float  # of the truth at random feasible configurations
    infeasible: float  # share of the box


@dataclass(frozen=True)
class Problem:
    """One thing to minimise, with its noise."""

    name: str
    kind: Kind
    nuisance: Mapping[str, Any]  # what a Round takes
    truth: Callable[[Configuration], float | None]
    noise: float = 0.0  # sd of a trial, as a share of median - optimum
    chance: Callable[[Configuration], float] | None = None  # that a trial diverges all the same
    draw: Callable[[Configuration, int], float] | None = None  # one recorded repeat, by its number
    logarithmic: bool = False  # regret by the logarithm of the objective
    best: Configuration | None = None  # where the optimum is known to lie

    @cached_property
    def reference(self) -> Reference:
        """The optimum, the median and the infeasible share of the box."""
        return references()[self.name]

    def study(self, seed: int, trials: int) -> Study:
        """The single study of a round over this space."""
        round = tw.Round(
            self.name, goal="?", nuisance=self.nuisance, trials_per_study=trials, seed=seed
        )
        return round.studies[0]

    def observe(self, configuration: Configuration, seed: int, trial: int) -> float | None:
        """What trial number `trial` sees there; the luck is the same for every contestant."""
        truth = self.truth(configuration)
        if truth is None:
            return None
        random = np.random.default_rng([zlib.crc32(self.name.encode()), seed, trial])
        if self.chance is not None and random.random() < self.chance(configuration):
            return None
        if self.draw is not None:
            return self.draw(configuration, int(random.integers(2**31)))
        if self.noise == 0.0:
            return truth
        spread = self.reference.median - self.reference.optimum
        return truth + self.noise * spread * float(random.standard_normal())

    def regret(self, configuration: Configuration | None) -> float:
        """How far the truth there is from the optimum; 1 when there is no configuration yet."""
        truth = None if configuration is None else self.truth(configuration)
        if truth is None:
            return 1.0
        low, middle = self.reference.optimum, self.reference.median
        if self.logarithmic:
            truth, low, middle = math.log(truth), math.log(low), math.log(middle)
        return min(max((truth - low) / (middle - low), 0.0), 1.0)


@cache
def references() -> Mapping[str, Reference]:
    """By problem, as committed."""
    return {name: Reference(**one) for name, one in json.loads(REFERENCES.read_text()).items()}
