"""Repeats: one configuration trained again under fresh seeds, to see what chance does to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tunewright.design.objective import Objective
from tunewright.stats.identical import identical
from tunewright.store.results import Results
from tunewright.store.trial import Trial

FEWEST_ALIKE = 3  # single values that are the same, where no curve has more


@dataclass(frozen=True)
class Repeats:
    """A trial and its repeats, in the order they were asked for; the trial is not one of them."""

    of: Trial
    trials: tuple[Trial, ...]
    results: Results = field(repr=False)  # the round they belong to

    @property
    def objective(self) -> Objective:
        """What they are judged by."""
        return self.results.objective

    @property
    def values(self) -> tuple[float, ...]:
        """The objective of each repeat that completed."""
        return tuple(trial.value for trial in self.trials if trial.value is not None)

    @property
    def deterministic(self) -> bool:
        """Whether the program was declared to give the same value under every seed."""
        return self.results.meaning.deterministic

    @property
    def seedless(self) -> bool:
        """Whether all gave the same value, although nothing declares the program deterministic."""
        return not self.deterministic and same_values(self.trials, self.objective.metric)

    def judged_by(self, objective: Objective) -> Repeats:
        """The same runs under another objective."""
        if objective == self.objective:
            return self
        results = self.results.with_objective(objective)
        alike = {own.identity: own for own in results.repeats(self.of)}
        trials = tuple(alike.get(own.identity, own) for own in self.trials)
        return Repeats(results.trial(self.of.number or 0), trials, results)

    def __len__(self) -> int:
        """How many there are, whatever became of them."""
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        """One after the other."""
        return iter(self.trials)

    def __getitem__(self, at: int) -> Trial:
        """The one at this place."""
        return self.trials[at]


def same_curves(trials: Sequence[Trial], metric: str) -> bool | None:
    """Whether runs logged the very same curve, but for rounding; None: one point is too little.

    A metric on a coarse grid, such as an accuracy of 50 examples, gives one value twice by chance.
    """
    curves = [c for trial in trials if (c := trial.curves.only(metric)) is not None]
    if len(curves) < 2 or min(len(own) for own in curves) < 2:
        return None
    if len({len(own) for own in curves}) > 1:
        return False
    rows = np.array([own.values for own in curves], dtype=float)
    finite = np.isfinite(rows).all(axis=0)
    return all(identical(column) for column in rows[:, finite].T)


def same_values(trials: Sequence[Trial], metric: str) -> bool:
    """Whether runs under different seeds gave one value, so that the seed cannot have been used."""
    valued = [trial for trial in trials if trial.value is not None]
    if not identical([trial.value or 0.0 for trial in valued]):
        return False
    curves = same_curves(valued, metric)
    return len(valued) >= FEWEST_ALIKE if curves is None else curves
