"""Have we sampled enough? What the best of half and of a quarter of the trials would have been.

This describes the search space and the budget, not the noise of this study: a study whose best is
an outlier has had its good draw already, and within one task the statistic hardly predicts what
doubling gains. So it gives by how much a repeat of the study would differ, never that the best is
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tunewright.actions import Action, Advise, Repeat, RunTrials
from tunewright.checks._better_half import TOP
from tunewright.checks.positions import StudyTrials, finite_losses, losses_of, study_trials
from tunewright.checks.spacing import tables
from tunewright.checks.step_variance import selection_gain
from tunewright.checks.trial_sd import smallest_difference, trial_sd
from tunewright.finding import Evidence, Finding, Verdict, merge_not_judged, not_judged
from tunewright.messages import Message
from tunewright.stats.best_of_k import BestOf, best_of, best_of_each
from tunewright.stats.noise import Floats, noisy_curves
from tunewright.store.results import Results
from tunewright.store.trial import Trial

FEWEST = 6  # feasible trials
# chosen on one half of the recorded data, measured on the other: bench/results/verdicts.md
SHARE = 0.6  # of what the second half of the trials brought: the average gain of doubling
_REACH = 1.5  # times the distance from the best to the sixth best: seldom does doubling gain more


@dataclass(frozen=True)
class Sampling:
    """How the best of a study grew with its trials; lower is better."""

    feasible: int
    best: float
    half: BestOf  # of half of the trials
    quarter: BestOf
    sixth: float  # the sixth best value: how thinly the trials lie around the best

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
        """What doubling the study brings on average over studies.

        Half of all studies gain nothing: the best of twice as many trials is as likely to be among
        the first half of them as among the second.
        """
        return SHARE * self.last_gain

    @property
    def gain_interval(self) -> tuple[float, float]:
        """What doubling this study brings, in at least 90 of 100 studies (bench/verdicts)."""
        return 0.0, max(_REACH * (self.sixth - self.best), self.expected_gain)

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
    ordered = np.sort(np.asarray(losses, dtype=float))
    sixth = float(ordered[min(FEWEST, count) - 1])
    return Sampling(count, float(ordered[0]), half, quarter, sixth)


Matters = Literal["detect", "between_settings", "trial_sd", "measurement"]
Source = Literal[Matters, "late_evaluations", "tenth_of_spread"]


@dataclass(frozen=True)
class Reference:
    """The difference that matters, and where it comes from."""

    size: float
    source: Matters  # "measurement": what the validation set makes of two equal trials


@dataclass(frozen=True)
class GoodRegion:
    """How many trials are about as good as the best, and what "about" means."""

    trials: int
    within: float  # of the best value, in units of the objective
    # twice the difference that matters; else twice the noise of a late evaluation of the best
    # trials; else a tenth of the way from the best trial to the median one
    by: Source


@dataclass(frozen=True)
class DensityEvidence(Evidence):
    """How the best of a study grew with its trials; gains are positive when the best improved."""

    feasible: int
    last_gain: float
    gain_before: float
    expected_gain: float  # of doubling the study, on average over studies
    gain_interval: tuple[float, float]  # of doubling this study; covers 90 of 100
    repeat_sd: float  # by about so much a repeat of the study would differ
    best_of_k: tuple[BestOf, ...]  # in units of the objective
    good_region: GoodRegion
    reference: Reference | None = None


def _gap_of_settings(results: Results, studies: Sequence[StudyTrials]) -> float | None:
    """How far apart the bests of the two best scientific settings are."""
    bests = [losses_of(results, study.trials).min(initial=np.inf) for study in studies]
    ordered = sorted(float(best) for best in bests if np.isfinite(best))
    return ordered[1] - ordered[0] if len(ordered) >= 2 else None


def reference(results: Results, study: StudyTrials, gap: float | None) -> Reference | None:
    """What the round wants to detect, else the gap between its two best settings, else noise."""
    if results.round.detect is not None:
        return Reference(results.round.detect, "detect")
    sd = None if gap else trial_sd(results, study.study)
    known = Reference(gap, "between_settings") if gap else None
    if sd:
        known = Reference(sd, "trial_sd")
    least = smallest_difference(results, study.study)
    if known is not None and least is not None and least > known.size:
        return Reference(least, "measurement")
    return known


def density(results: Results) -> list[Finding]:
    """Ask each study whether more trials would have changed its best by what matters."""
    studies = study_trials(results)
    gap = _gap_of_settings(results, studies)
    findings = [_ask(results, study, gap) for study in studies]
    return merge_not_judged(findings, results.round.name)


def _ask(results: Results, study: StudyTrials, gap: float | None) -> Finding:
    losses = finite_losses(results, study.trials)
    about, name = study.study.label, results.round.name
    double = RunTrials(name, 2 * max(results.round.trials_per_study, len(study.trials)))
    if len(losses) < FEWEST:
        why = Message("judge.feasible_trials", {"feasible": len(losses), "needed": FEWEST})
        return not_judged("density", about, why, double)
    seen, matters = sampling(losses), reference(results, study, gap)
    evidence = DensityEvidence(
        feasible=seen.feasible,
        last_gain=seen.last_gain,
        gain_before=seen.gain_before,
        expected_gain=seen.expected_gain,
        gain_interval=seen.gain_interval,
        repeat_sd=max(seen.half.sd, seen.expected_gain),
        best_of_k=tuple(_in_units(best, -results.objective.sign) for best in best_of_each(losses)),
        good_region=good_region(results, study, losses, matters),
        reference=matters,
    )
    actions: tuple[Action, ...] = ()
    if matters is None:
        verdict: Verdict = "note"
        actions = (Repeat(name), Advise("declare_detect"))
    elif seen.too_few(matters.size):
        verdict = "warn"
        actions = (double, Advise("narrow_after_doublings"))
    else:
        verdict = "ok"
    return Finding.of_study("density", about, verdict, evidence, actions)


def _in_units(best: BestOf, sign: float) -> BestOf:
    """The best of k as the objective has it, which may be one to maximise."""
    quantiles = tuple(sorted(sign * q for q in best.quantiles))
    return replace(best, mean=sign * best.mean, quantiles=quantiles)


def good_region(
    results: Results, study: StudyTrials, losses: Floats, matters: Reference | None
) -> GoodRegion:
    """How many trials lie in the good region: by what matters, else by noise, else by the spread.

    Without a declared difference and without repeats nothing shows how far a new seed moves a
    value. How much the late evaluations of the best trials jump is then the least that it does.
    """
    if matters is not None:
        return _within(losses, 2 * matters.size, matters.source)
    late = _late_sd(results, study.trials)
    if late:
        return _within(losses, 2 * late, "late_evaluations")
    share = 0.1 * float(np.median(losses) - losses.min())
    return _within(losses, share, "tenth_of_spread")


def _within(losses: Floats, size: float, by: Source) -> GoodRegion:
    return GoodRegion(int((losses <= losses.min() + size).sum()), size, by)


def _late_sd(results: Results, trials: Sequence[Trial]) -> float | None:
    """The median noise of a late evaluation in the five best trials; None without their curves."""
    losses = losses_of(results, trials)
    best = [trials[row] for row in np.argsort(losses, kind="stable")[:TOP]]
    metric = results.objective.metric
    sds = [
        sd
        for table in tables([t for t in best if t.value is not None], metric)
        for sd in selection_gain(noisy_curves(table.values)).late_sd.tolist()
    ]
    return float(np.median(sds)) if sds else None
