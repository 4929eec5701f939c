"""Which scientific setting is better, with so many trials each? Or can they not be told apart?

A setting that is only harder to tune is called worse too (45 to 92 % of studies of 10 to 16
trials when it is half as sensitive again): the claim is always "with n trials each".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.checks.positions import Settled, axes, losses_of, settled
from tunewright.design.ranges import Choice
from tunewright.design.study import Study
from tunewright.finding import LegacyFinding as Finding, Verdict
from tunewright.stats.buckets import Contrast, contrast
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

SECTION = "Detecting whether a change is useful with isolation plots"
WEAK = 12  # trials each: below it equal settings are called different in up to 12 %
MOST_ARMS = 50  # compared with the best one; the worst of more settings are left out


@dataclass(frozen=True)
class Pair:
    """The best setting beside another one."""

    best: Study
    other: Study
    halves: Halves | None
    region: SharedRegion | None  # b minus a, over points where both do well
    same_place: bool | None  # whether both are best at about the same nuisance values
    reason: str = ""  # why they cannot be compared

    def worse(self, side: float) -> bool:
        """Whether the other is surely worse, with these trials."""
        return self.halves is not None and self.halves.says(side) == "a is better"


def pairs(results: Results) -> list[Pair]:
    """The study with the best trial beside every other, the better ones first."""
    arms = [(own, losses_of(results, own.trials)) for own in settled(results)]
    ranked = sorted(arms, key=lambda arm: float(arm[1].min(initial=np.inf)))
    if len(ranked) < 2 or not np.isfinite(ranked[0][1].min(initial=np.inf)):
        return []
    return [_pair(*ranked[0], *other) for other in ranked[1 : MOST_ARMS + 1]]


def comparison(results: Results) -> list[Finding]:
    """Compare the best scientific setting with each other, and say what can be told."""
    findings = []
    if len(results.studies) > 1:
        findings.append(_of_lists(results))
    return findings + _of_ranges(results)


def _pair(best: Settled, a: Floats, other: Settled, b: Floats) -> Pair:
    for arm, losses in ((best, a), (other, b)):
        feasible = int(np.isfinite(losses).sum())
        if feasible < FEWEST:
            reason = f"{arm.study.label} has {feasible} feasible trials; {FEWEST} are needed"
            return Pair(best.study, other.study, None, None, None, reason)
    aligned = _aligned(best, a, other, b)
    if aligned is None:
        halves = separate_halves(a, b)
        reason = "" if halves else "too many trials are infeasible"
        return Pair(best.study, other.study, halves, None, None, reason)
    a, b = aligned
    halves = shared_halves(a, b)
    reason = "" if halves else "too many trials are infeasible"
    return Pair(best.study, other.study, halves, shared_region(a, b), same_place(a, b), reason)


def _aligned(best: Settled, a: Floats, other: Settled, b: Floats) -> tuple[Floats, Floats] | None:
    """The losses at the points both arms have, in their order; None if they share too few."""
    places = [
        {t.index: row for row, t in enumerate(own.trials) if t.index is not None}
        for own in (best, other)
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
    about, name = f"round {results.round.name}", results.round.name
    found = pairs(results)
    judged = [pair for pair in found if pair.halves is not None]
    more = f"tunewright run {name} --trials {2 * results.round.trials_per_study}"
    if not judged:
        says = found[0].reason if found else "no trial has completed"
        return Finding("comparison", about, "cannot_judge", says, {}, (more,), SECTION)
    evidence: dict[str, Any] = {
        "best": judged[0].best.label,
        "pairs": [_as_data(pair, len(found)) for pair in found],
    }
    worse = [p for p in judged if p.worse(_side(p, len(found)))]
    open_pairs = [p for p in found if p not in worse]
    first = judged[0].halves
    assert first is not None
    trials = f"with {first.trials} trials each"
    if not open_pairs:
        second = worse[0]
        says = (
            f"{second.best.label} is best {trials}: ahead of {second.other.label} by "
            f"{_gap(second)}" + (f", and of {len(worse) - 1} more" if len(worse) > 1 else "")
        )
        advice: tuple[str, ...] = (f"tunewright repeat {name} --times 5",)
        if first.trials < WEAK:
            says += "; so few trials make this weak"
        return Finding("comparison", about, "ok", says + _moved(second), evidence, advice, SECTION)
    second = open_pairs[0]
    says = f"{second.best.label} and {second.other.label} cannot be told apart {trials}"
    says += f": {_gap(second)}" if second.halves else f": {second.reason}"
    if len(open_pairs) > 1:
        says += f"; nor {len(open_pairs) - 1} more"
    advice = (f"tunewright repeat {name} --times 5", more)
    return Finding("comparison", about, "note", says + _moved(second), evidence, advice, SECTION)


def _side(pair: Pair, others: int) -> float:
    shared = pair.halves is None or pair.halves.shared
    return (SIDE if shared else SIDE_APART) / others


def _gap(pair: Pair) -> str:
    assert pair.halves is not None
    low, high = pair.halves.interval
    words = f"{pair.halves.difference:.3g} (tuning luck: {low:.3g} to {high:.3g})"
    if not pair.halves.shared:
        words += ", each on points of its own"
    return words


def _moved(pair: Pair) -> str:
    if pair.same_place is not False:
        return ""
    return "; the best nuisance values differ between them, so narrow the ranges around each"


def _as_data(pair: Pair, others: int) -> dict[str, Any]:
    data: dict[str, Any] = {"other": pair.other.label, "reason": pair.reason}
    if pair.halves is not None:
        half = pair.halves
        data |= {
            "says": half.says(_side(pair, others)),
            "trials": half.trials,
            "shared_points": half.shared,
            "best_wins": half.a_wins,
            "difference": half.difference,
            "interval": list(half.interval),
            "may_close_with_more_tuning": half.may_close,
            "same_place": pair.same_place,
        }
    if pair.region is not None:
        data["shared_region"] = {
            "difference": pair.region.difference,
            "interval": list(pair.region.interval),
            "points": pair.region.points,
        }
    return data


def _of_ranges(results: Results) -> list[Finding]:
    """One finding for each scientific range of each study: it has buckets, and little power."""
    ranges = [n for n, d in results.round.scientific.items() if not isinstance(d, Choice)]
    return [_of_range(results, own, name) for own in settled(results) for name in ranges]


def _of_range(results: Results, own: Settled, name: str) -> Finding:
    advice = (f"compare three values of {name} as a list: 16 shared points each see far more",)
    axis = next(axis for axis in axes(results, own) if axis.name == name)
    found = contrast(axis.units[axis.feasible], axis.losses[axis.feasible])
    if found is None or found.p is None:
        says = f"{int(axis.feasible.sum())} feasible trials along {name}; buckets need 48"
        return Finding(
            "comparison", own.study.label, "cannot_judge", says, _buckets(found), advice, SECTION
        )
    words = "the best value depends on" if found.speaks else "no effect is visible of"
    says = f"{words} {name} over {len(found.buckets)} buckets (p {found.p:.2g})"
    verdict: Verdict = "ok" if found.speaks else "note"
    return Finding(
        "comparison",
        own.study.label,
        verdict,
        says,
        _buckets(found),
        () if found.speaks else advice,
        SECTION,
    )


def _buckets(found: Contrast | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {"p": found.p, "buckets": [vars(bucket) for bucket in found.buckets]}
