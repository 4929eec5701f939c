"""How much of the best value is luck? Trial variance from repeats, study variance from halves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.checks.positions import losses_of, settled
from tunewright.checks.trial_sd import FEWEST_REPEATS
from tunewright.finding import LegacyFinding as Finding
from tunewright.stats.best_of_k import best_of
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

SECTION = "Determining whether to adopt a training pipeline change or hyperparameter configuration"
FEWEST_FOR_STUDY = 8  # feasible trials
DRAWS = 200


@dataclass(frozen=True)
class Spread:
    """A standard deviation over repeats, pooled, with an interval that holds for skewed noise."""

    sd: float
    low: float
    high: float
    repeats: int
    groups: int


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
    seen = truth + sd * np.random.default_rng(0x0F71).standard_normal((DRAWS, len(half)))
    best = seen.argmin(axis=1)
    return float((truth[best] - seen.min(axis=1)).mean())


def variance(results: Results) -> list[Finding]:
    """Ask the round for its trial variance, and what it means for the best value."""
    groups: dict[int, list[float]] = {}
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        groups[parent] = [own.value for own in results.repeats(parent) if own.value is not None]
    found = spread(list(groups.values()))
    about = f"round {results.round.name}"
    evidence: dict[str, Any] = {"study_sd": _study_sds(results)}
    if found is None:
        most = max((len(group) for group in groups.values()), default=0)
        says = "trial variance not measured"
        if most:
            says = f"{most} repeats of one trial; a spread needs {FEWEST_REPEATS}"
        advice = (f"tunewright repeat {results.round.name} --times 5",)
        return [Finding("variance", about, "cannot_judge", says, evidence, advice, SECTION)]
    says = (
        f"{found.repeats} repeats differ by a standard deviation of {found.sd:.3g} "
        f"({found.low:.2g} to {found.high:.2g})"
    )
    evidence |= {
        "trial_sd": found.sd,
        "interval": [found.low, found.high],
        "repeats": found.repeats,
        "groups": found.groups,
    }
    best = results.top(1)
    losses = losses_of(results, results.of(best[0].study)) if best else np.empty(0)
    losses = losses[np.isfinite(losses)]
    if len(losses) >= 4 and found.sd > 0:
        evidence["optimism"] = optimism(losses, found.sd)
        says += (
            f"; the best value, picked among {len(losses)}, is probably optimistic by at least "
            f"{evidence['optimism']:.2g}"
        )
    return [Finding("variance", about, "ok", says, evidence, (), SECTION)]


def _study_sds(results: Results) -> dict[str, float]:
    """About how far the best of a study would move if it were run again, within a factor 2."""
    found = {}
    for own in settled(results):
        losses = losses_of(results, own.trials)
        losses = losses[np.isfinite(losses)]
        if len(losses) >= FEWEST_FOR_STUDY:
            found[own.study.label] = best_of(losses, len(losses) // 2).sd
    return found
