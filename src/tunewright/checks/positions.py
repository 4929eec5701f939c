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
from tunewright.design.ranges import Range
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.stats.noise import Floats
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# searches that fix every point in advance; no name: made by hand, or imported
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
class StudyTrials:
    """A study's trials that came to an end and can be counted on."""

    study: Study
    # completed, infeasible or stopped early, of a search that was laid out beforehand
    trials: tuple[Trial, ...]
    adaptive: int  # trials left out because their search looked at results

    @cached_property
    def units(self) -> tuple[dict[str, float], ...]:
        """The position of each trial; empty for one that lies outside the search space."""
        return tuple(_unit(self.study, trial) for trial in self.trials)


def study_trials(results: Results) -> list[StudyTrials]:
    """The trials of each study that the statistics of the search space may use."""
    by_study: dict[int, list[Trial]] = {study.number: [] for study in results.studies}
    adaptive = dict.fromkeys(by_study, 0)
    for trial in results.rows:
        censored = trial.bound_of(results.objective.metric) is not None
        if trial.status in ("completed", "infeasible") or censored:
            if (trial.search or results.search) in LAID_OUT:
                by_study[trial.study].append(trial)
            else:
                adaptive[trial.study] += 1
    return [StudyTrials(s, tuple(by_study[s.number]), adaptive[s.number]) for s in results.studies]


def axes(results: Results, study: StudyTrials) -> list[Axis]:
    """One axis for each searched hyperparameter of the study."""
    losses = losses_of(results, study.trials)
    searched = []
    for h in study.study.space:
        rows = [row for row, unit in enumerate(study.units) if h.column in unit]
        units = np.array([h.range.along(study.units[row][h.column]) for row in rows])
        trials = tuple(study.trials[row] for row in rows)
        searched.append(Axis(h, trials, units.reshape(-1), losses[rows]))
    return searched


def losses_of(results: Results, trials: Sequence[Trial]) -> Floats:
    """The objective of each trial, lower being better, and infinite without one.

    A pruned trial counts with the best value it could still reach: it is not better than that.
    """
    sign, metric = -results.objective.sign, results.objective.metric
    values = [t.bound_of(metric) if t.value is None else t.value for t in trials]
    return np.array([np.inf if value is None else sign * value for value in values], dtype=float)


def finite_losses(results: Results, trials: Sequence[Trial]) -> Floats:
    """The objective of those trials that have one, lower being better."""
    losses = losses_of(results, trials)
    return losses[np.isfinite(losses)]


def has_edges(searched: Range) -> bool:
    """Whether it can be asked if the best lies at an end: three or more values in an order."""
    return searched.ordered and (searched.count is None or searched.count >= 3)


def _unit(study: Study, trial: Trial) -> dict[str, float]:
    if trial.unit:
        return dict(trial.unit)
    try:
        return study.unit(trial.configuration)
    except DesignError:
        return {}
