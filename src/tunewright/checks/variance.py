"""How much of the best value is noise? Trial variance from repeats, study variance from halves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tunewright.actions import Advise, Repeat
from tunewright.checks.positions import finite_losses, study_trials
from tunewright.checks.trial_sd import (
    FEWEST_REPEATS,
    earlier_repeats,
    repeat_values,
    seedless_trials,
)
from tunewright.finding import Evidence, Finding
from tunewright.stats.best_of_k import best_of
from tunewright.stats.measurement import own_sd
from tunewright.stats.noise import Floats
from tunewright.stats.spread import chi_square_interval, pooled_sd
from tunewright.store.results import Results

_FEWEST_FOR_STUDY = 8  # feasible trials
_DRAWS = 200


@dataclass(frozen=True)
class Spread:
    """A standard deviation over repeats, pooled, with an interval that holds for skewed noise."""

    sd: float
    low: float
    high: float
    repeats: int
    groups: int


@dataclass(frozen=True)
class StudySd:
    """About how far the best of a study would move if it were run again, within a factor 2."""

    study: str  # its label
    sd: float


@dataclass(frozen=True)
class VarianceEvidence(Evidence):
    """How far repeats of one configuration differ, and what that does to the best value."""

    study_sd: tuple[StudySd, ...]
    most_repeats: int  # of one trial
    needed: int  # repeats of one trial for a spread
    spread: Spread | None = None  # None: too few repeats
    picked_among: int | None = None  # feasible trials of the study with the best one
    optimism: float | None = None  # by so much, at least, the best looks better than it is
    seedless: tuple[int, ...] = ()  # trials whose repeats all gave the same value
    deterministic: bool = False  # declared: the same value under every seed
    known_from: str = ""  # the earlier round of the same pipeline whose repeats give the spread


def spread(groups: list[list[float]]) -> Spread | None:
    """The pooled spread of groups of repeats; None unless one has three.

    The interval takes a third of the degrees of freedom: with all of them it holds for normal
    noise alone (58 % instead of 90 % for skewed noise and ten repeats).
    """
    enough = [group for group in groups if len(group) >= FEWEST_REPEATS]
    if not enough:
        return None
    sd, freedom = pooled_sd(enough)
    low, high = chi_square_interval(sd, max(1.0, freedom / 3))
    return Spread(sd, low, high, sum(len(group) for group in enough), len(enough))


def optimism(losses: Floats, sd: float) -> float:
    """By how much the best of these looks better than it is, at least, when trials have this sd.

    The better half is taken as the truth after shrinking it by the noise it holds. Where noisier
    configurations exist the truth is worse, so this is never used to decide.
    """
    half = np.sort(losses)[: max(4, len(losses) // 2)]
    middle, variance = float(half.mean()), float(half.var(ddof=1))
    keep = math.sqrt(max(0.0, 1 - sd * sd / variance)) if variance > 0 else 0.0
    truth = middle + keep * (half - middle)
    seen = truth + sd * np.random.default_rng(0x0F71).standard_normal((_DRAWS, len(half)))
    best = seen.argmin(axis=1)
    return float((truth[best] - seen.min(axis=1)).mean())


def variance(results: Results) -> list[Finding]:
    """Ask the round for its trial variance, and what it means for the best value."""
    groups = repeat_values(results)
    seedless = seedless_trials(results)
    repeated = None if seedless else spread(list(groups.values()))
    name = results.round.name
    evidence = VarianceEvidence(
        study_sd=_study_sds(results),
        most_repeats=max((len(group) for group in groups.values()), default=0),
        needed=FEWEST_REPEATS,
        spread=repeated,
        seedless=seedless,
        deterministic=results.meaning.deterministic,
    )
    if seedless:
        return [Finding.of_round("variance", name, "warn", evidence, (Advise("use_the_seed"),))]
    if evidence.deterministic and (repeated is None or not repeated.sd > 0):
        return [Finding.of_round("variance", name, "ok", evidence)]
    if repeated is None:
        earlier, values = earlier_repeats(results)
        repeated = spread(values)
        evidence = replace(evidence, spread=repeated, known_from=earlier)
    if repeated is not None:
        evidence = _with_optimism(results, evidence, repeated.sd)
        return [Finding.of_round("variance", name, "ok", evidence)]
    best = results.top(1)
    if best and best[0].measured is not None:
        # without repeats the measurement's own noise shows the least that the best is optimistic
        evidence = _with_optimism(results, evidence, own_sd(best[0].measured.sd))
    return [Finding.of_round("variance", name, "cannot_judge", evidence, (Repeat(name),))]


def _with_optimism(results: Results, evidence: VarianceEvidence, sd: float) -> VarianceEvidence:
    """By how much the best looks better than it is, where trials have this spread."""
    best = results.top(1)
    losses = finite_losses(results, results.rows_of(best[0].study)) if best else np.empty(0)
    if len(losses) < 4 or not sd > 0:
        return evidence
    return replace(evidence, picked_among=len(losses), optimism=optimism(losses, sd))


def _study_sds(results: Results) -> tuple[StudySd, ...]:
    sds = []
    for study in study_trials(results):
        losses = finite_losses(results, study.trials)
        if len(losses) >= _FEWEST_FOR_STUDY:
            sds.append(StudySd(study.study.label, best_of(losses, len(losses) // 2).sd))
    return tuple(sds)
