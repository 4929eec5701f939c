"""Where do a study's trials lie in its search space, and how well did they do there?

The statistics of the search space rest on points that were laid out without looking at results.
An adaptive search crowds its trials where they did well, so its trials are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import Hyperparameter
from tunewright.design.ranges import Choice, Integers, Range, Value, is_number
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.stats.noise import Floats
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# searches that settle every point beforehand; no name: made by hand, or imported
LAID_OUT = ("", "halton", "listed", "random", "grid", "sobol", "quasi_random")


@dataclass(frozen=True, eq=False)
class Axis:
    """One hyperparameter of a study, with the trials in which it was active."""

    hyperparameter: Hyperparameter
    trials: tuple[Trial, ...]  # completed or infeasible
    units: Floats  # from 0 at the low end of the range to 1 at the high end
    losses: Floats  # the objective, lower is better; infinite where infeasible

    @property
    def name(self) -> str:
        """What the round calls it: parent.value.name when conditional."""
        return self.hyperparameter.column

    @cached_property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """Which trials have a value."""
        return np.asarray(np.isfinite(self.losses))


@dataclass(frozen=True)
class Settled:
    """A study's trials that came to an end and can be counted on."""

    study: Study
    trials: tuple[Trial, ...]  # completed or infeasible, of a search that was laid out beforehand
    adaptive: int  # trials left out because their search looked at results

    @cached_property
    def units(self) -> tuple[dict[str, float], ...]:
        """The position of each trial; empty for one that lies outside the search space."""
        return tuple(_unit(self.study, trial) for trial in self.trials)


def settled(results: Results) -> list[Settled]:
    """The trials of each study that the statistics of the search space may use."""
    found: dict[int, list[Trial]] = {study.number: [] for study in results.studies}
    adaptive = dict.fromkeys(found, 0)
    for trial in results.trials:
        if trial.status in ("completed", "infeasible"):
            if (trial.search or results.search) in LAID_OUT:
                found[trial.study].append(trial)
            else:
                adaptive[trial.study] += 1
    return [Settled(s, tuple(found[s.number]), adaptive[s.number]) for s in results.studies]


def axes(results: Results, study: Settled) -> list[Axis]:
    """One axis for each searched hyperparameter of the study."""
    losses = losses_of(results, study.trials)
    found = []
    for h in study.study.space:
        rows = [row for row, unit in enumerate(study.units) if h.column in unit]
        units = np.array([along(h.range, study.units[row][h.column]) for row in rows])
        trials = tuple(study.trials[row] for row in rows)
        found.append(Axis(h, trials, units.reshape(-1), losses[rows]))
    return found


def losses_of(results: Results, trials: Sequence[Trial]) -> Floats:
    """The objective of each trial, lower being better, and infinite without one."""
    sign = -results.objective.sign
    return np.array([np.inf if t.value is None else sign * t.value for t in trials], dtype=float)


def along(searched: Range, unit: float) -> float:
    """A position stretched so that the first and the last value of a range lie at 0 and 1.

    >>> [along(Choice((3, 2, 1)), unit) for unit in (1 / 6, 3 / 6, 5 / 6)]
    [1.0, 0.5, 0.0]
    """
    if isinstance(searched, Choice):
        count = len(searched.values)
        if count == 1:
            return 0.5
        at = min(int(unit * count), count - 1) / (count - 1)
        return 1.0 - at if falls(searched) else at
    if isinstance(searched, Integers):
        low, high = searched.unit(searched.low), searched.unit(searched.high)
        middle = searched.unit(searched.value(unit))
        return (middle - low) / (high - low)
    return unit


def falls(searched: Choice) -> bool:
    """Whether the values are numbers that get smaller."""
    first, last = searched.values[0], searched.values[-1]
    return searched.ordered and isinstance(first, int | float) and first > last  # type: ignore[operator]


def count_of(searched: Range) -> float:
    """How many values a range has.

    >>> count_of(Integers(1, 3)), count_of(Choice(("adam", "sgd")))
    (3, 2)
    """
    if isinstance(searched, Choice):
        return len(searched.values)
    if isinstance(searched, Integers):
        return searched.high - searched.low + 1
    return np.inf


def has_edges(searched: Range) -> bool:
    """Whether it can be asked if the best lies at an end: three or more values in an order."""
    if isinstance(searched, Choice) and not searched.ordered:
        return False
    return count_of(searched) >= 3


def as_number(value: Value) -> float | None:
    """A value as a number; None for text, True and False."""
    return float(value) if is_number(value) else None  # type: ignore[arg-type]


def _unit(study: Study, trial: Trial) -> dict[str, float]:
    if trial.unit:
        return dict(trial.unit)
    try:
        return study.unit(trial.configuration)
    except DesignError:
        return {}
