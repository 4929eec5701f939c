"""How much of the best value is noise? Trial variance from repeats, study variance from halves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tunewright.actions import Advise, Repeat
from tunewright.checks.positions import losses_of, settled
from tunewright.checks.trial_sd import FEWEST_REPEATS, earlier_repeats, seedless_trials
from tunewright.finding import Evidence, Finding
from tunewright.stats.best_of_k import best_of
from tunewright.stats.measurement import own_sd
from tunewright.stats.noise import Floats
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
    from scipy.special import chdtri

    enough = [np.array(group) for group in groups if len(group) >= FEWEST_REPEATS]
    if not enough:
        return None
    freedom = sum(len(group) - 1 for group in enough)
    sd = math.sqrt(sum(float(((g - g.mean()) ** 2).sum()) for g in enough) / freedom)
    fewer = max(1.0, freedom / 3)
    low, high = (sd * math.sqrt(fewer / float(chdtri(fewer, tail))) for tail in (0.05, 0.95))
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
    groups: dict[int, list[float]] = {}
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        groups[parent] = [own.value for own in results.repeats(parent) if own.value is not None]
    seedless = seedless_trials(results)
    found = None if seedless else spread(list(groups.values()))
    name = results.round.name
    evidence = VarianceEvidence(
        study_sd=_study_sds(results),
        most_repeats=max((len(group) for group in groups.values()), default=0),
        needed=FEWEST_REPEATS,
        spread=found,
        seedless=seedless,
        deterministic=results.meaning.deterministic,
    )
    if seedless:
        return [Finding.of_round("variance", name, "warn", evidence, (Advise("use_the_seed"),))]
    if evidence.deterministic and (found is None or not found.sd > 0):
        return [Finding.of_round("variance", name, "ok", evidence)]
    if found is None:
        earlier, known = earlier_repeats(results)
        found = spread(known)
        evidence = replace(evidence, spread=found, known_from=earlier)
    if found is None:
        evidence = _by_measurement(results, evidence)
        return [Finding.of_round("variance", name, "cannot_judge", evidence, (Repeat(name),))]
    best = results.top(1)
    losses = losses_of(results, results.rows_of(best[0].study)) if best else np.empty(0)
    losses = losses[np.isfinite(losses)]
    if len(losses) >= 4 and found.sd > 0:
        gained = optimism(losses, found.sd)
        evidence = replace(evidence, picked_among=len(losses), optimism=gained)
    return [Finding.of_round("variance", name, "ok", evidence)]


def _by_measurement(results: Results, evidence: VarianceEvidence) -> VarianceEvidence:
    """Without repeats the measurement's own noise shows the least that the best is optimistic."""
    best = results.top(1)
    if not best or best[0].measured is None or not best[0].measured.sd > 0:
        return evidence
    losses = losses_of(results, results.rows_of(best[0].study))
    losses = losses[np.isfinite(losses)]
    if len(losses) < 4:
        return evidence
    gained = optimism(losses, own_sd(best[0].measured.sd))
    return replace(evidence, picked_among=len(losses), optimism=gained)


def _study_sds(results: Results) -> tuple[StudySd, ...]:
    found = []
    for own in settled(results):
        losses = losses_of(results, own.trials)
        losses = losses[np.isfinite(losses)]
        if len(losses) >= _FEWEST_FOR_STUDY:
            found.append(StudySd(own.study.label, best_of(losses, len(losses) // 2).sd))
    return tuple(found)
