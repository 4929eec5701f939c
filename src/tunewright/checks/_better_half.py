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
_LEARNED = 0.2  # of the best trial's improvement: below it a curve only trembles at chance level
_FEWEST_STUCK = 4  # curves: with fewer, equal ends are no level
_HAIR = 0.01  # of the best improvement: ends within it are equal
_APART = 0.05  # of the best improvement: how far from the best trial such a level lies at least


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
    median first value, or on chance where that is better, by at least a fifth of what its best
    trial did.
    """
    ranked: dict[int, list[Trial]] = {study.number: [] for study in results.studies}
    for trial in results.top():
        ranked[trial.study].append(trial)
    return [_better_half(results, study, ranked[study.number]) for study in results.studies]


def _better_half(results: Results, study: Study, ranked: list[Trial]) -> Judged:
    if not ranked:
        return Judged(study, (), why_not=Message("judge.no_completed_trial"))
    learned = have_learned(*_first_and_lowest(ranked, results.objective), _chance(results))
    half = max(-(-len(ranked) // 2), TOP)
    trials = tuple(t for t, has in zip(ranked[:half], learned, strict=False) if has)
    never = tuple(t.number for t, has in zip(ranked, learned, strict=True) if not has)
    why_not = None if trials else Message("judge.never_learned")
    return Judged(study, tuple(ranked), trials, never, why_not)


def have_learned(first: Floats, lowest: Floats, chance: float | None = None) -> list[bool]:
    """Which curves learned, from the first and the lowest value of each; lower is better.

    A first loss above chance (large initial weights, a jump by a high learning rate) falls to
    chance without any learning: then chance is where learning starts. It is what was declared,
    else the level at which many curves stay though others get well below it.

    >>> have_learned(np.array([2.3, 2.3, 2.4]), np.array([0.3, 2.29, 1.8]))
    [True, False, True]
    >>> have_learned(np.array([9.0, 8.0, 9.5]), np.array([0.3, 2.29, 1.8]), chance=2.3)
    [True, False, True]
    """
    if np.all(np.isnan(first)):
        return [False] * len(first)
    start = float(np.nanmedian(first))
    level = stuck_level(lowest, start) if chance is None else chance
    if level is not None:
        start = min(start, level)
    improvement = start - lowest
    most = np.nanmax(improvement)
    return [bool(most > 0 and gained >= _LEARNED * most) for gained in improvement]


def stuck_level(lowest: Floats, start: float) -> float | None:
    """The level at which at least a third of the curves end within a hair; None without one.

    It lies in the worse half, away from the best by a twentieth of the best improvement at least:
    trials that are all about as good as the best are no such level.

    >>> stuck_level(np.array([0.3, 1.1, 2.301, 2.302, 2.299, 2.3]), 9.0)
    2.302
    >>> stuck_level(np.array([0.3, 0.31, 0.3, 0.305, 0.9, 1.0]), 9.0) is None
    True
    """
    ends = np.sort(lowest[np.isfinite(lowest)])
    if len(ends) < _FEWEST_STUCK or not start > ends[0]:
        return None
    hair = _HAIR * (start - ends[0])
    upper = np.searchsorted(ends, ends + hair, side="right")
    most = int(np.argmax(upper - np.arange(len(ends))))
    members = ends[most : upper[most]]
    worse_half = float(np.median(members)) >= float(np.median(ends))
    apart = members[0] - ends[0] >= _APART * (start - ends[0])
    if len(members) < max(_FEWEST_STUCK - 1, len(ends) / 3) or not worse_half or not apart:
        return None
    return float(members[-1])


def _chance(results: Results) -> float | None:
    """The declared chance, lower being better, where the objective means the validation loss."""
    chance = results.meaning.number("chance")
    if chance is None or results.objective.metric != results.meaning.name("valid_loss"):
        return None
    return -results.objective.sign * chance


def _first_and_lowest(trials: Sequence[Trial], objective: Objective) -> tuple[Floats, Floats]:
    first, lowest = np.full(len(trials), np.nan), np.full(len(trials), np.nan)
    for row, trial in enumerate(trials):
        curve = trial.curves.only(objective.metric)
        if curve is not None:
            values = -objective.sign * curve.values[np.isfinite(curve.values)]
            if len(values):
                first[row], lowest[row] = values[0], values.min()
    return first, lowest
