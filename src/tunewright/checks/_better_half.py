"""Which trials may speak for their study? The better half, as far as they learned anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.design.objective import Objective
from tunewright.design.study import Study
from tunewright.messages import Message
from tunewright.stats.noise import Floats
from tunewright.store.results import Results
from tunewright.store.trial import Trial

TOP = 5  # trials the study-level rules look at
LEARNED = 0.2  # of the best trial's improvement: below it a curve only trembles at chance level


@dataclass(frozen=True)
class Judged:
    """A study's trials, and those of them whose curves are evidence about it."""

    study: Study
    ranked: tuple[Trial, ...]  # every completed trial, best first
    trials: tuple[Trial, ...] = ()  # the better half of them, as far as they learned
    never_learned: tuple[int | None, ...] = ()  # numbers of trials that stayed at chance
    why_not: Message | None = None  # why no trial can be judged


def better_halves(results: Results) -> list[Judged]:
    """For each study the better half (at least the five best) of its trials, if they learned.

    A bad trial's curve is no evidence about the study. Learned means: improved on the study's
    median first value by at least a fifth of what its best trial did.
    """
    ranked: dict[int, list[Trial]] = {study.number: [] for study in results.studies}
    for trial in results.top(len(results.trials)):
        ranked[trial.study].append(trial)
    return [_better_half(results, study, ranked[study.number]) for study in results.studies]


def _better_half(results: Results, study: Study, ranked: list[Trial]) -> Judged:
    if not ranked:
        return Judged(study, (), why_not=Message("judge.no_completed_trial"))
    learned = have_learned(*_first_and_lowest(ranked, results.objective))
    half = max(-(-len(ranked) // 2), TOP)
    trials = tuple(t for t, has in zip(ranked[:half], learned, strict=False) if has)
    never = tuple(t.number for t, has in zip(ranked, learned, strict=True) if not has)
    why_not = None if trials else Message("judge.never_learned")
    return Judged(study, tuple(ranked), trials, never, why_not)


def have_learned(first: Floats, lowest: Floats) -> list[bool]:
    """Which curves learned, from the first and the lowest value of each; lower is better.

    >>> have_learned(np.array([2.3, 2.3, 2.4]), np.array([0.3, 2.29, 1.8]))
    [True, False, True]
    """
    if np.all(np.isnan(first)):
        return [False] * len(first)
    improvement = np.nanmedian(first) - lowest
    most = np.nanmax(improvement)
    return [bool(most > 0 and gained >= LEARNED * most) for gained in improvement]


def _first_and_lowest(trials: Sequence[Trial], objective: Objective) -> tuple[Floats, Floats]:
    first, lowest = np.full(len(trials), np.nan), np.full(len(trials), np.nan)
    for row, trial in enumerate(trials):
        curve = trial.curves.only(objective.metric)
        if curve is not None:
            values = -objective.sign * curve.values[np.isfinite(curve.values)]
            if len(values):
                first[row], lowest[row] = values[0], values.min()
    return first, lowest
