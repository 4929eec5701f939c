"""Where in training do the best trials reach their best value? And how long should it last?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.checks._better_half import TOP
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class BestSteps:
    """The best step of each of a study's best trials, as retrospective selection found it."""

    steps: tuple[int, ...]  # best trial first
    max_train_steps: int  # the length of training they had, in steps as logged

    @property
    def early(self) -> int:
        """How many were reached in the first tenth of training."""
        return sum(step <= 0.1 * self.max_train_steps for step in self.steps)

    @property
    def late(self) -> int:
        """How many were reached in the last quarter of training."""
        return sum(step >= 0.75 * self.max_train_steps for step in self.steps)

    @property
    def proposed(self) -> int | None:
        """A shorter max_train_steps, when half of the best steps lie in the first half.

        One and a half times the 90 % quantile of the best steps.
        """
        if len(self.steps) < TOP or np.median(self.steps) > 0.5 * self.max_train_steps:
            return None
        return self.no_shorter(shorter(np.array(self.steps, dtype=float)))

    def no_shorter(self, wanted: int) -> int | None:
        """A length that reaches every best step; None if that is all of training."""
        enough = max(wanted, *self.steps) if self.steps else wanted
        return enough if enough < self.max_train_steps else None


def best_steps(results: Results, ranked: Sequence[Trial]) -> BestSteps:
    """The best steps of the best of these trials: five, or a tenth of them if that is more.

    The best step is taken from the curve, so that it is known under an objective `at="last"` too.
    """
    best = ranked[: max(TOP, len(ranked) // 10)]
    objective = results.objective
    steps, lengths = [], []
    for trial in best:
        curve = trial.curves.only(objective.metric)
        if curve is not None and np.isfinite(curve.values).any():
            values = np.where(np.isfinite(curve.values), -objective.sign * curve.values, np.inf)
            steps.append(int(curve.steps[values.argmin()]))
            lengths.append(int(curve.steps[-1]))
    return BestSteps(tuple(steps), max(lengths, default=0))


def shorter(steps: np.ndarray) -> int:
    """Steps enough for nearly all of these and half as many again, to two digits.

    >>> shorter(np.array([400.0, 450.0, 500.0]))
    740
    """
    wanted = 1.5 * float(np.quantile(steps, 0.9))
    digits = 1 - int(np.floor(np.log10(max(wanted, 1.0))))
    return max(1, int(round(wanted, digits)))
