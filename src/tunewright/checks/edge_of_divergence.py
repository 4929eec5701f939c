"""Is the best learning rate at the edge of divergence? Then instability may be holding it down.

Weak in real, many-dimensional studies: with fewer than 100 trials its silence means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.actions import Declare
from tunewright.checks._region import Region
from tunewright.checks.infeasible import InfeasibleTrials, Shared, find_infeasible
from tunewright.checks.instability import diverged, remedies
from tunewright.checks.positions import StudyTrials, losses_of, study_trials
from tunewright.finding import Evidence, Finding, merge_not_judged, not_judged
from tunewright.messages import Message
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

_NEAR = 0.75  # decades below the threshold; 1.0 called 12 % of a set whose best lies 1.5 below
_FEWEST = 6  # feasible trials
_DRAWS = 299
_NOTHING_BESIDE = Message("judge.feasible_beside_diverged", {"needed": _FEWEST})
P = 0.05


@dataclass(frozen=True)
class Nearness:
    """How near the best trials lie to where trials diverge."""

    p: float  # that random feasible trials lie as near
    decades: float  # between the best trial and the threshold
    near: bool


def nearness(region: Region, losses: Floats, rows: Sequence[int]) -> Nearness | None:
    """Whether the best feasible trials of these rows lie just below the region's threshold."""
    sign = 1.0 if region.above else -1.0
    feasible = np.isfinite(losses[list(rows)])
    y = losses[list(rows)][feasible]
    below = sign * (region.threshold - region.feature.values[feasible])  # distance in decades
    if len(y) < _FEWEST or not region.feature.logarithmic:
        return None
    k = max(3, math.ceil(0.15 * len(y)))
    top = np.argsort(y, kind="stable")[:k]
    towards = -np.maximum(below, 0.0)
    random = np.random.default_rng([0xED0E, len(y)])
    picked = np.argsort(random.random((_DRAWS, len(y))), axis=1)[:, :k]
    drawn = towards[picked].mean(axis=1)
    p = float((1 + (drawn >= towards[top].mean() - 1e-12).sum()) / (_DRAWS + 1))
    near = p < P and below[top[0]] < _NEAR and (below[top[:3]] < _NEAR).sum() >= 2
    return Nearness(p, float(below[top[0]]), bool(near))


@dataclass(frozen=True)
class Edge:
    """Where trials begin to diverge, and how near the best ones lie."""

    branch: tuple[Shared, ...]  # what the trials it holds for have in common; empty for all
    feature: str  # the learning rate, or a product with it
    between: tuple[float, float]
    decades_below: float  # from the best trial up to it
    p: float  # that random feasible trials lie as near


@dataclass(frozen=True)
class EdgeEvidence(Evidence):
    """Whether the best learning rate lies just below where training diverges."""

    rate: str  # how the workload spells the learning rate
    edge: Edge | None = None  # None where no rate was found above which trials diverge


def edge_of_divergence(results: Results) -> list[Finding]:
    """Ask each study whether its best trials lie just below where training diverges."""
    findings = [_ask(results, study) for study in study_trials(results)]
    return merge_not_judged(findings, results.round.name)


def _ask(results: Results, study: StudyTrials) -> Finding:
    infeasible = find_infeasible(results, study)
    about = study.study.label
    rate = results.meaning.name("learning_rate")
    branches = [part for part in infeasible.regions if part[1].clear and _of_rate(part[1], rate)]
    if not branches:
        if not any(h.name == rate for h in study.study.space):
            why = Message("judge.rate_not_searched", {"rate": rate})
            return not_judged("edge_of_divergence", about, why, Declare("learning_rate"))
        if infeasible.bad and len(study.trials) - len(infeasible.bad) < _FEWEST:
            # nothing to compare with: whatever diverged may have done so everywhere
            return not_judged("edge_of_divergence", about, _NOTHING_BESIDE)
        return Finding.of_study("edge_of_divergence", about, "ok", EdgeEvidence(rate))
    losses = losses_of(results, study.trials)
    losses[[row for row, t in enumerate(study.trials) if t.number in infeasible.far]] = np.inf
    worst = None
    for branch, where, rows in branches:
        near = nearness(where, losses, rows)
        if near is not None and (worst is None or near.near):
            worst = branch, where, near
    if worst is None:
        return not_judged("edge_of_divergence", about, _NOTHING_BESIDE)
    branch, where, near = worst
    edge = Edge(
        branch=branch,
        feature=where.feature.name,
        between=where.between,
        decades_below=near.decades,
        p=near.p,
    )
    speaks = near.near and _diverge(results, infeasible)
    return Finding.of_study(
        "edge_of_divergence",
        about,
        "warn" if speaks else "ok",
        EdgeEvidence(rate, edge),
        remedies(results) if speaks else (),
    )


def _of_rate(region: Region, rate: str) -> bool:
    """Whether the region is one of high learning rates."""
    return region.above and region.feature.name.startswith(rate)


def _diverge(results: Results, infeasible: InfeasibleTrials) -> bool:
    """Whether most of the infeasible trials diverged, rather than broke a constraint."""
    bad = [t for t in infeasible.study.trials if t.number in infeasible.bad]
    known = [t for t in bad if t.number in infeasible.far or not t.curves or diverged(results, t)]
    return 2 * len(known) >= len(bad)
