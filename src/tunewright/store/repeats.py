"""Repeats: one configuration trained again under fresh seeds, to see what chance does to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tunewright.design.objective import Objective
from tunewright.store.results import Results
from tunewright.store.trial import Trial


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
