"""Were the scientific settings tuned equally well? Else the comparison is one of tuning effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tunewright.checks.boundary import Edge, edges_of
from tunewright.checks.positions import Settled, losses_of, settled
from tunewright.finding import LegacyFinding as Finding, Verdict
from tunewright.store.results import Results

SECTION = "Striking a balance between informative and affordable experiments"
LARGE = 2.0  # times as many trials: the best of more is better without being better
P = 0.01  # of a difference in feasible trials


def fairness(results: Results) -> list[Finding]:
    """Ask whether budgets, feasible trials, search spaces and their ends are alike."""
    if len(results.studies) < 2:
        return []
    about, name = f"round {results.round.name}", results.round.name
    studies = settled(results)
    losses = {own.study.number: losses_of(results, own.trials) for own in studies}
    feasible = {number: int(np.isfinite(own).sum()) for number, own in losses.items()}
    if sum(count > 0 for count in feasible.values()) < 2:
        says = "fewer than two settings have a completed trial"
        more = (f"tunewright run {name}",)
        return [Finding("fairness", about, "cannot_judge", says, {}, more, SECTION)]
    best = min(losses, key=lambda number: float(losses[number].min(initial=np.inf)))
    evidence: dict[str, Any] = {
        "settings": {
            own.study.label: {
                "trials": len(own.trials),
                "feasible": feasible[own.study.number],
                "searched": len(own.study.space),
            }
            for own in studies
        }
    }
    warns = [*_budgets(studies), *_infeasible(studies, feasible)]
    # an end that is crowded is warned about by `boundary` already
    notes = [*_ends(results, best), *_spaces(studies)]
    says = "; ".join([*warns, *notes])
    if not says:
        counts = {len(own.trials) for own in studies}
        each = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        says = f"{len(studies)} settings had {each} trials each in spaces of the same size"
        return [Finding("fairness", about, "ok", says, evidence, (), SECTION)]
    advice = (
        "compare settings only when each is tuned as well as the others",
        f"tunewright run {name}" if _unfinished(results) else f"tunewright next {name}",
    )
    verdict: Verdict = "warn" if warns else "note"
    return [Finding("fairness", about, verdict, says, evidence, advice, SECTION)]


def _budgets(studies: Sequence[Settled]) -> list[str]:
    most = max(studies, key=lambda own: len(own.trials))
    fewest = min(studies, key=lambda own: len(own.trials))
    if len(most.trials) < LARGE * len(fewest.trials):
        return []
    return [
        f"{most.study.label} had {len(most.trials)} trials, "
        f"{fewest.study.label} only {len(fewest.trials)}"
    ]


def _infeasible(studies: Sequence[Settled], feasible: Mapping[int, int]) -> list[str]:
    """Settings left with far fewer feasible trials than the one that has most."""
    said = []
    most = max(studies, key=lambda own: feasible[own.study.number])
    for own in studies:
        left, full = feasible[own.study.number], feasible[most.study.number]
        if own is most or 2 * left > full:
            continue
        p = _fewer(left, len(own.trials), full, len(most.trials))
        if p < P / (len(studies) - 1):
            said.append(
                f"{own.study.label} has {left} feasible of {len(own.trials)} trials, "
                f"{most.study.label} {full} of {len(most.trials)}"
            )
    return said[:3]


def _fewer(left: int, of: int, full: int, of_full: int) -> float:
    """Fisher's exact chance of so few feasible trials if both settings diverged alike."""
    from scipy.stats import hypergeom

    return float(hypergeom.cdf(left, of + of_full, left + full, of))


def _ends(results: Results, best: int) -> list[str]:
    """Settings behind the best one whose own best trials crowd at an end of a range."""
    found = edges_of(results)
    winner = {_place(e) for e in found.get(best, ()) if e.verdict == "warn"}
    said = []
    for study in results.studies:
        crowded = [
            e
            for e in found.get(study.number, ())
            if e.verdict == "warn" and _place(e) not in winner
        ]
        if study.number != best and crowded:
            e = crowded[0]
            said.append(
                f"{study.label} is best at the {e.seen.side} end of {e.hyperparameter.column}, "
                f"{results.studies[best].label} is not: it may get better beyond"
            )
    return said[:3]


def _place(e: Edge) -> tuple[str, str]:
    return e.hyperparameter.column, e.seen.side


def _spaces(studies: Sequence[Settled]) -> list[str]:
    sizes = {own.study.label: _dimensions(own) for own in studies}
    most, fewest = max(sizes, key=lambda k: sizes[k]), min(sizes, key=lambda k: sizes[k])
    if sizes[most] < max(2 * sizes[fewest], sizes[fewest] + 2):
        return []
    return [
        f"{most} searches {sizes[most]} hyperparameters and {fewest} {sizes[fewest]} with as many "
        "trials: the larger space is covered more thinly"
    ]


def _dimensions(own: Settled) -> int:
    return max((len(branch.dimensions) for branch in own.study.branches), default=0)


def _unfinished(results: Results) -> bool:
    return any(not trial.ended for trial in results.trials)
