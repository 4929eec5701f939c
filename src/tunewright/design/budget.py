"""How many trials a study needs for what it searches, and what a round will cost.

The playbook's ladder for Adam (FAQ, "How should Adam's hyperparameters be tuned?") gives how many
hyperparameters a number of trials pays for: one below 10, two below 25, three from 25, four with
many more. Beyond four this package continues it by 25 trials each.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tunewright.design.study import Study
from tunewright.errors import DesignError

# trials from which one hyperparameter more can be tuned: the second, the third, the fourth
LADDER = (10, 25, 50)
FEWEST = 5  # below it even one hyperparameter is hardly covered
STEP = 25  # trials for each hyperparameter beyond the ladder


@dataclass(frozen=True)
class Budget:
    """What a study's trials pay for."""

    dimensions: int  # searched at once, in the branch that has most
    branches: int  # combinations of conditional parents, which share the trials
    trials: int  # trials_per_study
    suggested: int  # trials_per_study that the ladder asks for

    @property
    def enough(self) -> bool:
        """Whether the ladder is met."""
        return self.trials >= self.suggested


def budget(study: Study) -> Budget:
    """What the study's trials pay for, and how many would be enough.

    Trials are shared by the branches, so each of them must be paid for.
    """
    dimensions = max(len(branch.dimensions) for branch in study.branches)
    needed = sum(trials_for(len(branch.dimensions)) for branch in study.branches)
    return Budget(dimensions, len(study.branches), study.trials, needed)


def trials_for(dimensions: int) -> int:
    """The fewest trials that pay for searching this many hyperparameters at once.

    >>> [trials_for(d) for d in (0, 1, 2, 3, 4, 5, 6)]
    [1, 5, 10, 25, 50, 75, 100]
    """
    if dimensions <= 1:
        return FEWEST if dimensions else 1
    if dimensions - 2 < len(LADDER):
        return LADDER[dimensions - 2]
    return LADDER[-1] + STEP * (dimensions - 1 - len(LADDER))


def dimensions_for(trials: int) -> int:
    """How many hyperparameters this many trials pay for, never fewer than one.

    >>> [dimensions_for(n) for n in (3, 9, 10, 24, 25, 50, 80)]
    [1, 1, 2, 2, 3, 4, 5]
    """
    dimensions = 1
    while trials_for(dimensions + 1) <= trials:
        dimensions += 1
    return dimensions


@dataclass(frozen=True)
class Cost:
    """What trials will take, judging by those that have ended."""

    trials: int
    device_hours: float  # all trials one after another
    low_hours: float  # by the clock, with all workers busy
    high_hours: float


def expected_cost(trials: int, seconds: Sequence[float], workers: int = 1) -> Cost | None:
    """What this many more trials will take; None while no trial has ended.

    `seconds` are the lengths of ended trials. The range is two standard deviations of the sum,
    counting that the mean comes from few trials, as a factor, so that it never promises nothing.

    >>> cost = expected_cost(60, [500, 600, 700], workers=4)
    >>> f"{cost.device_hours:.1f} device hours, {cost.low_hours:.1f} to {cost.high_hours:.1f} h"
    '10.0 device hours, 2.1 to 3.0 h'
    """
    if workers < 1:
        raise DesignError("budget.bad_workers", workers=workers)
    if not seconds or trials < 1:
        return None
    mean = statistics.fmean(seconds)
    spread = statistics.stdev(seconds) if len(seconds) > 1 else mean / 2
    doubt = 2 * spread * math.sqrt(1 / trials + 1 / len(seconds)) / mean if mean else 0.0
    hours = trials * mean / 3600
    waves = math.ceil(trials / workers) * mean / 3600  # the last wave leaves workers idle
    return Cost(trials, hours, hours / workers / (1 + doubt), waves * (1 + doubt))
