"""Quasi-random search: the scrambled Halton sequence, trial i of a study at its position i.

The points depend on the round's seed and its search space alone. Every study of a round gets the
same ones, every prefix covers the space, more trials continue the sequence, and a hyperparameter
appended later leaves the earlier columns as they were. Each combination of conditional parents has
a separate sequence and trials take them in turn, so each is covered evenly.

Why scipy's generator: 20 points in 2, 7, 12 and 20 dimensions have a centred discrepancy of 0.050,
0.251, 0.633 and 1.909, random ones of 0.140, 0.387, 0.776 and 2.014 (200 seeds each). Scrambled
Sobol points are as even, but appending a dimension changes all of them. The points stay scipy's: a
record of last month, or made elsewhere, must continue at the very same ones, so that no sequence of
our own is worth its seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.design.study import Branch, Study
from tunewright.errors import DesignError
from tunewright.search.search import Suggestion, next_index
from tunewright.store.trial import Trial

_MOST_HALTON = 20  # dimensions; beyond, neighbouring columns of large primes move together
_MOST_SOBOL = 21201  # dimensions scipy has direction numbers for
_POINTS, _ORDER = 0x51, 0x52  # what a stream of random numbers is for


@dataclass(frozen=True)
class Halton:
    """Quasi-random search, the default: uniform coverage, no state, nothing to tune.

    >>> from tunewright.design.round import Round
    >>> from tunewright.design.ranges import log
    >>> depth = Round("depth", goal="?", scientific={"layers": [1, 2]},
    ...     nuisance={"learning_rate": log(1e-4, 1e-1)}, trials_per_study=8)
    >>> one, two = (Halton().suggest(study, [], 2) for study in depth.studies)
    >>> [s.configuration["layers"] for s in one + two]
    [1, 1, 2, 2]
    >>> [s.unit for s in one] == [s.unit for s in two]
    True
    """

    @property
    def name(self) -> str:
        """Its name in the database."""
        return "halton"

    @property
    def adaptive(self) -> bool:
        """No: a suggestion depends on its position alone."""
        return False

    def generator(self, study: Study) -> str:
        """Which sequence this study's points come from, in words for a record or a person."""
        import scipy

        most = max(len(branch.dimensions) for branch in study.branches)
        kind = "Halton" if most <= _MOST_HALTON else "Sobol"
        return f"scrambled {kind}, scipy {scipy.__version__}, seed {study.seed}"

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """The configurations at the next `count` positions of the study's sequence."""
        return self.at(study, next_index(trials), count)

    def at(self, study: Study, first: int, count: int) -> list[Suggestion]:
        """The configurations at `count` positions of the study's sequence, from `first` on."""
        start, branches = first, study.branches
        suggestions: dict[int, Suggestion] = {}
        for turn, branch in enumerate(branches):
            first_index = start + (turn - start) % len(branches)
            indices = range(first_index, start + count, len(branches))
            if not indices:
                continue
            points = _points(study.seed, turn, branch, first_index // len(branches), len(indices))
            points = _choices_in_order(points, study.seed, turn, branch)
            for index, point in zip(indices, points.tolist(), strict=True):
                suggestions[index] = _suggestion(study, branch, point)
        return [suggestions[index] for index in sorted(suggestions)]


def _points(seed: int, turn: int, branch: Branch, skip: int, count: int) -> npt.NDArray[np.float64]:
    """Positions skip .. skip + count - 1 of a branch's sequence, one row each."""
    dimensions = len(branch.dimensions)
    if dimensions == 0:
        return np.empty((count, 0))
    from scipy.stats import qmc

    random = _random(seed, _POINTS, turn)
    if dimensions > _MOST_SOBOL:
        raise DesignError("search.too_many_dimensions", dimensions=dimensions, most=_MOST_SOBOL)
    if dimensions > _MOST_HALTON:
        sobol = qmc.Sobol(dimensions, scramble=True, rng=random)
        if skip:
            sobol.fast_forward(skip)
            return np.asarray(sobol.random(count), dtype=np.float64)
        # in two draws: a first one of another size than 2**m warns, and trials are never rounded up
        return np.concatenate([sobol.random(1), sobol.random(count - 1)])
    halton = qmc.Halton(dimensions, scramble=True, rng=random)
    halton.fast_forward(skip)
    return np.asarray(halton.random(count), dtype=np.float64)


def _choices_in_order(
    points: npt.NDArray[np.float64], seed: int, turn: int, branch: Branch
) -> npt.NDArray[np.float64]:
    """Columns of choices in an order fixed by the seed, at the middle of each value's own bin."""
    random = _random(seed, _ORDER, turn)
    for column, h in enumerate(branch.dimensions):
        if h.range.choices is not None:
            order = random.permutation(len(h.range.choices))
            drawn = np.minimum((points[:, column] * len(order)).astype(int), len(order) - 1)
            points[:, column] = (order[drawn] + 0.5) / len(order)
    return points


def _suggestion(study: Study, branch: Branch, point: list[float]) -> Suggestion:
    drawn = {h.column: u for h, u in zip(branch.dimensions, point, strict=True)}
    unit: dict[str, float] = {}
    for h in study.space:
        if h.column in branch.settings:
            unit[h.column] = h.range.unit(branch.settings[h.column])
        elif h.column in drawn:
            unit[h.column] = drawn[h.column]
    return Suggestion(study.configuration(unit), unit)


def _random(seed: int, *purpose: int) -> Any:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *purpose])))
