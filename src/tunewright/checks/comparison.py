"""Which scientific setting is better, with so many trials each? Or can they not be separated?

A setting that is only harder to tune is called worse too (45 to 92 % of studies of 10 to 16
trials when it is half as sensitive again): the claim is always "with n trials each".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from tunewright.actions import Action, Advise, Repeat, RunTrials
from tunewright.checks._better_half import TOP
from tunewright.checks.fairness import lengths_of
from tunewright.checks.logged_rate import SmallRates, small_rates
from tunewright.checks.positions import StudyTrials, axes, losses_of, study_trials
from tunewright.checks.trial_sd import APART, smallest_difference
from tunewright.design.ranges import choices_of
from tunewright.design.study import Study
from tunewright.finding import Evidence, Finding, Verdict, not_judged
from tunewright.messages import Message
from tunewright.stats.buckets import FEWEST_TO_JUDGE, PER_BUCKET, Bucket, contrast
from tunewright.stats.half_sampling import (
    FEWEST,
    SIDE,
    SIDE_APART,
    Halves,
    SharedRegion,
    same_place,
    separate_halves,
    shared_halves,
    shared_region,
)
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

_WEAK = 12  # trials each: below it equal settings are called different in up to 12 %
_MOST_ARMS = 50  # compared with the best one; the worst of more settings are left out


@dataclass(frozen=True)
class Pair:
    """The best setting beside another one."""

    best: Study
    other: Study
    halves: Halves | None
    region: SharedRegion | None  # b minus a, over points where both do well
    same_place: bool | None  # whether both are best at about the same nuisance values
    why: Message | None = None  # why they cannot be compared
    resolves: float = 0.0  # the smallest difference that is surely one

    def worse(self, side: float) -> bool:
        """Whether the other is surely worse, with these trials."""
        halves = self.halves
        return halves is not None and halves.verdict(side) == "a is better" and not self.blurred

    @property
    def blurred(self) -> bool:
        """Whether the difference lies within the uncertainty of the measurement."""
        return self.halves is not None and abs(self.halves.difference) < self.resolves


@dataclass(frozen=True)
class PairEvidence:
    """How another setting compares with the best one; a positive difference: it is worse."""

    other: str
    verdict: Literal["worse", "not_distinguishable", "not_judged"]
    why: Message | None = None  # why it is not judged
    trials: int | None = None  # of each of the two
    shared_points: bool | None = None
    best_wins: float | None = None  # in this share of all halves of the trials
    difference: float | None = None
    interval: tuple[float, float] | None = None
    may_close: bool | None = None  # whether more tuning may close the gap
    same_place: bool | None = None
    shared_region: SharedRegion | None = None
    resolves: float | None = None  # the gap is smaller than what measurement resolves


@dataclass(frozen=True)
class ComparisonEvidence(Evidence):
    """The best setting of a scientific list beside each other one, the better ones first."""

    best: str
    trials: int  # of each setting
    weak: bool  # so few trials that equal settings are often called different
    pairs: tuple[PairEvidence, ...]
    small_rates: SmallRates | None = None  # its best trials have smaller ones than the others'


@dataclass(frozen=True)
class TrendEvidence(Evidence):
    """Whether the best value depends on a scientific range: the best of buckets along it."""

    name: str
    feasible: int
    needed: int  # feasible trials
    p: float | None = None  # None with too few buckets to judge
    buckets: tuple[Bucket, ...] = ()


def pairs(results: Results) -> list[Pair]:
    """The study with the best trial beside every other, the better ones first."""
    arms = [(study, losses_of(results, study.trials)) for study in study_trials(results)]
    ranked = sorted(arms, key=lambda arm: float(arm[1].min(initial=np.inf)))
    if len(ranked) < 2 or not np.isfinite(ranked[0][1].min(initial=np.inf)):
        return []
    first = ranked[0][0].study
    return [
        replace(
            _pair(*ranked[0], *other),
            resolves=APART * (smallest_difference(results, first, other[0].study) or 0.0),
        )
        for other in ranked[1 : _MOST_ARMS + 1]
    ]


def comparison(results: Results) -> list[Finding]:
    """Compare the best scientific setting with each other, and report what differs."""
    findings = []
    if len(results.studies) > 1:
        findings.append(_of_lists(results))
    return findings + _of_ranges(results)


def _pair(best: StudyTrials, a: Floats, other: StudyTrials, b: Floats) -> Pair:
    for arm, losses in ((best, a), (other, b)):
        feasible = int(np.isfinite(losses).sum())
        if feasible < FEWEST:
            facts = {"setting": arm.study.label, "feasible": feasible, "needed": FEWEST}
            why = Message("comparison.few_trials", facts)
            return Pair(best.study, other.study, None, None, None, why)
    aligned = _align(best, a, other, b)
    many = Message("comparison.many_infeasible")
    if aligned is None:
        halves = separate_halves(a, b)
        return Pair(best.study, other.study, halves, None, None, None if halves else many)
    a, b = aligned
    halves = shared_halves(a, b)
    why_not = None if halves else many
    return Pair(best.study, other.study, halves, shared_region(a, b), same_place(a, b), why_not)


def _align(
    best: StudyTrials, a: Floats, other: StudyTrials, b: Floats
) -> tuple[Floats, Floats] | None:
    """The losses at the points both arms have, in their order; None if they share too few."""
    places = [
        {t.index: row for row, t in enumerate(arm.trials) if t.index is not None}
        for arm in (best, other)
    ]
    shared = [
        index
        for index in sorted(places[0].keys() & places[1].keys())
        if best.units[places[0][index]] == other.units[places[1][index]]
        # unknown positions are equal only in being unknown
        and (best.units[places[0][index]] or not best.study.space)
    ]
    if len(shared) < max(FEWEST, 0.8 * min(len(a), len(b))):
        return None
    return a[[places[0][i] for i in shared]], b[[places[1][i] for i in shared]]


def _of_lists(results: Results) -> Finding:
    name = results.round.name
    unlike = lengths_of(results)
    if unlike is not None:  # longer training would win, whatever else is better
        why, as_long = (
            Message("comparison.different_lengths", asdict(unlike)),
            Advise("train_as_long"),
        )
        return not_judged("comparison", name, why, as_long, scope="round")
    every_pair = pairs(results)
    judged = [pair for pair in every_pair if pair.halves is not None]
    more = RunTrials(name, 2 * results.round.trials_per_study)
    if not judged:
        first = every_pair[0].why if every_pair else None
        why = first or Message("comparison.none_completed")
        return not_judged("comparison", name, why, more, scope="round")
    compared = tuple(_pair_evidence(pair, len(every_pair)) for pair in every_pair)
    halves = judged[0].halves
    assert halves is not None
    evidence = ComparisonEvidence(
        best=judged[0].best.label,
        trials=halves.trials,
        weak=halves.trials < _WEAK,
        pairs=compared,
        small_rates=_small_rates(results),
    )
    all_worse = all(pair.verdict == "worse" for pair in compared)
    verdict: Verdict = "ok" if all_worse else "note"
    actions: tuple[Action, ...] = (Repeat(name),) if all_worse else (Repeat(name), more)
    return Finding.of_round("comparison", name, verdict, evidence, actions)


def _small_rates(results: Results) -> SmallRates | None:
    """Whether the best trials of the best setting have smaller learning rates than the others'.

    Learning rates of different optimizers do not compare.
    """
    if results.meaning.name("optimizer") in results.round.scientific:
        return None
    ranked = results.top()
    first = [trial for trial in ranked if trial.study == ranked[0].study][:TOP]
    others = [
        trial
        for study in results.studies
        if study.number != ranked[0].study
        for trial in [t for t in ranked if t.study == study.number][:TOP]
    ]
    return small_rates(results, first, others)


def side_of(pair: Pair, others: int) -> float:
    """The error allowed per side when the best is compared with so many others."""
    shared = pair.halves is None or pair.halves.shared
    return (SIDE if shared else SIDE_APART) / others


def _pair_evidence(pair: Pair, others: int) -> PairEvidence:
    halves = pair.halves
    if halves is None:
        return PairEvidence(pair.other.label, "not_judged", why=pair.why, shared_region=pair.region)
    return PairEvidence(
        other=pair.other.label,
        verdict="worse" if pair.worse(side_of(pair, others)) else "not_distinguishable",
        trials=halves.trials,
        shared_points=halves.shared,
        best_wins=halves.a_wins,
        difference=halves.difference,
        interval=halves.interval,
        may_close=halves.may_close,
        same_place=pair.same_place,
        shared_region=pair.region,
        resolves=pair.resolves if pair.blurred else None,
    )


def _of_ranges(results: Results) -> list[Finding]:
    """One finding for each scientific range of each study: it has buckets, and little power."""
    ranges = [n for n, d in results.round.scientific.items() if choices_of(d) is None]
    return [_of_range(results, study, name) for study in study_trials(results) for name in ranges]


def _of_range(results: Results, study: StudyTrials, name: str) -> Finding:
    axis = next(axis for axis in axes(results, study) if axis.name == name)
    trend = contrast(axis.units[axis.feasible], axis.losses[axis.feasible])
    evidence = TrendEvidence(
        name=name,
        feasible=int(axis.feasible.sum()),
        needed=FEWEST_TO_JUDGE * PER_BUCKET,
        p=None if trend is None else trend.p,
        buckets=() if trend is None else trend.buckets,
    )
    verdict: Verdict = "note"
    if trend is None or trend.p is None:
        verdict = "cannot_judge"
    elif trend.speaks:
        verdict = "ok"
    actions = () if verdict == "ok" else (Advise("compare_as_list", {"name": name}),)
    return Finding.of_study("comparison", study.study.label, verdict, evidence, actions)
