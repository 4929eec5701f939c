"""Have we sampled enough? What the best of half and of a quarter of the trials would have been.

This describes the search space and the budget, not the luck of this study: a study whose best is
an outlier has been lucky already, and within one task the statistic hardly predicts what doubling
brings. So it says by how much a repeat of the study would differ, never that the best is lucky.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.checks.positions import Settled, losses_of, settled
from tunewright.checks.trial_sd import trial_sd
from tunewright.finding import Finding, said_once
from tunewright.stats.best_of_k import BestOf, best_of, best_of_each
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

SECTION = "Not sampling enough points in the search space"
FEWEST = 6  # feasible trials
GOOD_REGION = 3  # trials as good as the best, within noise
BETWEEN_SETTINGS = "between the two best settings"


@dataclass(frozen=True)
class Sampling:
    """How the best of a study grew with its trials; lower is better."""

    feasible: int
    best: float
    half: BestOf  # of half of the trials
    quarter: BestOf

    @property
    def last_gain(self) -> float:
        """What the second half of the trials brought, on average over their order."""
        return self.half.mean - self.best

    @property
    def gain_before(self) -> float:
        """What the second quarter brought."""
        return self.quarter.mean - self.half.mean

    @property
    def expected_gain(self) -> float:
        """What doubling the study may bring; realised over predicted was 1.02 on real grids."""
        return 0.5 * min(self.last_gain, self.gain_before / 2)

    def too_few(self, reference: float) -> bool:
        """Whether the study is too small to see a difference of this size.

        Both conditions together: either alone speaks in a fifth of the studies where doubling
        gains next to nothing.
        """
        return self.last_gain > reference and self.gain_before > 2 * reference


def sampling(losses: Sequence[float] | Floats) -> Sampling:
    """How the best of these finite losses grew with their number."""
    count = len(losses)
    half, quarter = best_of(losses, max(1, count // 2)), best_of(losses, max(1, count // 4))
    return Sampling(count, float(np.min(losses)), half, quarter)


@dataclass(frozen=True)
class Reference:
    """The difference that matters, and where it comes from."""

    size: float
    source: str


def gap_of_settings(results: Results, studies: Sequence[Settled]) -> float | None:
    """How far apart the bests of the two best scientific settings are."""
    bests = [losses_of(results, own.trials).min(initial=np.inf) for own in studies]
    ordered = sorted(float(best) for best in bests if np.isfinite(best))
    return ordered[1] - ordered[0] if len(ordered) >= 2 else None


def reference(results: Results, study: Settled, gap: float | None) -> Reference | None:
    """What the round wants to detect, else the gap between its two best settings, else noise."""
    if results.round.detect is not None:
        return Reference(results.round.detect, "the difference to detect")
    if gap:
        return Reference(gap, BETWEEN_SETTINGS)
    sd = trial_sd(results, study.study)
    return None if not sd else Reference(sd, "the trial standard deviation")


def density(results: Results) -> list[Finding]:
    """Ask each study whether more trials would have changed its best by what matters."""
    studies = settled(results)
    gap = gap_of_settings(results, studies)
    findings = [_ask(results, study, gap) for study in studies]
    return said_once(findings, results.round.name)


def _ask(results: Results, study: Settled, gap: float | None) -> Finding:
    losses = losses_of(results, study.trials)
    losses = losses[np.isfinite(losses)]
    about, name = study.study.label, results.round.name
    per_study = max(results.round.trials_per_study, len(study.trials))
    double = f"tunewright run {name} --trials {2 * per_study}"
    if len(losses) < FEWEST:
        says = f"{len(losses)} feasible trials; this question needs {FEWEST}"
        return Finding("density", about, "cannot_judge", says, {}, (double,), SECTION)
    seen, matters = sampling(losses), reference(results, study, gap)
    evidence: dict[str, Any] = {
        "feasible": seen.feasible,
        "gain_of_last_half": seen.last_gain,
        "gain_of_second_quarter": seen.gain_before,
        "expected_gain_of_doubling": seen.expected_gain,
        "reference": None if matters is None else matters.size,
        "reference_is": None if matters is None else matters.source,
        "best_of_k": [
            {"k": one.k, "mean": one.mean, "quantiles": list(one.quantiles)}
            for one in best_of_each(losses)
        ],
    }
    gains = f"the last half of {seen.feasible} feasible trials brought {seen.last_gain:.3g}"
    if matters is None:
        says = f"{gains}, the quarter before {seen.gain_before:.3g}; whether that is much, only "
        says += "detect= or repeats can tell"
        advice = (f"tunewright repeat {name} --times 5", "or give the round detect=")
        return Finding("density", about, "note", says, evidence, advice, SECTION)
    good = int((losses <= seen.best + 2 * matters.size).sum())
    evidence["good_region"] = good
    versus = f"against {matters.size:.3g}, {matters.source}"
    if seen.too_few(matters.size):
        says = (
            f"{gains} {versus}: a repeat of this study would differ by about "
            f"{max(seen.half.sd, seen.expected_gain):.2g}; doubling it may gain "
            f"{seen.expected_gain:.2g}"
        )
        if good < GOOD_REGION:
            says += f"; {good} of them came near the best"
        advice = (double, "after two doublings narrow the ranges instead")
        return Finding("density", about, "warn", says, evidence, advice, SECTION)
    return Finding("density", about, "ok", f"{gains} {versus}", evidence, (), SECTION)
