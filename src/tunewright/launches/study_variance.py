"""Study variance: how far would the best move if the whole search were done again?

From one study it is the spread of the best of half of its trials, exactly over every half: right
within a factor of 2 from eight feasible trials on (median ratio to the truth 1.42, 1.22, 1.12, .87
at 10, 16, 30, 100 trials). Replicate studies with new points are the honest way: with three or five
a chi-square interval covers 92 and 90 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tunewright.checks.positions import losses_of, settled
from tunewright.messages import Message
from tunewright.stats.best_of_k import best_of
from tunewright.stats.half_sampling import separate_halves, shared_halves
from tunewright.stats.noise import Floats
from tunewright.stats.spread import Spread, chi_square_interval
from tunewright.store.results import Results

_FEWEST_TRIALS = 8  # feasible ones of a study
FEWEST_STUDIES = 3
WITHIN = 2.0  # the factor a spread from halves is right within
_HALVES_FREEDOM = 2.0  # what such a spread is worth: its logarithm varies by about 0.5
_NINETY = 3.29  # a normal 5 to 95 % interval, in standard deviations


def from_halves(results: Results, study: int) -> Spread | None:
    """The spread of a study's best, from halves of its trials; None with fewer than eight."""
    losses = _losses(results, study)
    feasible = losses[np.isfinite(losses)]
    if len(feasible) < _FEWEST_TRIALS:
        return None
    sd = best_of(feasible, len(feasible) // 2).sd
    how = Message("variance.halves", {"trials": len(feasible), "each": False})
    return Spread("study", sd, sd / WITHIN, sd * WITHIN, _HALVES_FREEDOM, how)


def from_replicates(replicates: Sequence[Results], study: int) -> Spread | None:
    """The spread of the best over studies of the same space with separate points."""
    bests = [best for r in replicates if np.isfinite(best := _best(r, study))]
    return _over(bests, "variance.studies")


def luck_of_gain(
    candidate: Results,
    candidate_study: int,
    baseline: Results,
    baseline_study: int,
    replicates: Sequence[Results] = (),
) -> Spread | None:
    """How much tuning noise changes the gain of one study's best over another's.

    Studies of a round share their points, and with them part of their noise, so that the difference
    is looked at half by half (or replicate by replicate), not each study on its own.
    """
    if len(replicates) >= FEWEST_STUDIES:
        gaps = [_best(r, baseline_study) - _best(r, candidate_study) for r in replicates]
        return _over([gap for gap in gaps if np.isfinite(gap)], "variance.replicates")
    a, b = _losses(baseline, baseline_study), _losses(candidate, candidate_study)
    if min(np.isfinite(a).sum(), np.isfinite(b).sum()) < _FEWEST_TRIALS:
        return None
    if candidate.round.name == baseline.round.name and candidate_study != baseline_study:
        mine, others = _by_index(candidate, candidate_study), _by_index(baseline, baseline_study)
        points = sorted(mine.keys() & others.keys())
        a, b = (np.array([own[point] for point in points]) for own in (others, mine))
        halves = shared_halves(a, b)
    else:
        halves = separate_halves(a, b)
    if halves is None:
        return None
    sd = (halves.interval[1] - halves.interval[0]) / _NINETY
    how = Message("variance.halves", {"trials": halves.trials, "each": True})
    return Spread("study", sd, sd / WITHIN, sd * WITHIN, _HALVES_FREEDOM, how)


def _over(values: Sequence[float], how: str) -> Spread | None:
    if len(values) < FEWEST_STUDIES:
        return None
    sd = float(np.std(values, ddof=1))
    low, high = chi_square_interval(sd, len(values) - 1)
    known = Message(how, {"studies": len(values)})
    return Spread("study", sd, low, high, len(values) - 1, known)


def _best(results: Results, study: int) -> float:
    return float(_losses(results, study).min(initial=np.inf))


def _by_index(results: Results, study: int) -> dict[int, float]:
    """The loss at each point of the study's sequence."""
    for own in settled(results):
        if own.study.number == study:
            losses = losses_of(results, own.trials)
            return {
                trial.index: float(loss)
                for trial, loss in zip(own.trials, losses, strict=True)
                if trial.index is not None
            }
    return {}


def _losses(results: Results, study: int) -> Floats:
    """The losses of a study's trials in the order of their points, infinite where infeasible."""
    for own in settled(results):
        if own.study.number == study:
            return losses_of(results, own.trials)
    return np.empty(0)
