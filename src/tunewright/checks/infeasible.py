"""How many trials are infeasible, and where? Some are normal; most mean a bad space or a bug."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.checks._far_above import far_above
from tunewright.checks._region import LARGEST, Region, features_of, region
from tunewright.checks.positions import Settled, settled
from tunewright.finding import LegacyFinding as Finding, Verdict, said_once
from tunewright.store.results import Results

SECTION = "Identifying bad search space boundaries"
FEWEST = 3  # ended trials
USUAL, MANY, NEARLY_ALL = 0.25, 0.5, 0.8  # 16 to 62 % in published studies of wide ranges


@dataclass(frozen=True)
class Found:
    """The infeasible trials of one study and the regions they lie in."""

    study: Settled
    bad: frozenset[int | None]  # their numbers, those far above the others included
    far: tuple[int | None, ...]  # finite, but far above
    regions: tuple[tuple[str, Region, tuple[int, ...]], ...]  # branch, region, rows of its trials


def wilson(bad: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The interval a share of `bad` in `count` is uncertain by.

    >>> [round(x, 3) for x in wilson(8, 16)]
    [0.28, 0.72]
    """
    share, spread = bad / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def find_infeasible(results: Results, study: Settled) -> Found:
    """The infeasible trials of a study, and where in the search space they lie."""
    far = tuple(trial.number for trial in far_above(results, study.trials))
    bad = frozenset(t.number for t in study.trials if t.status == "infeasible") | frozenset(far)
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, unit in enumerate(study.units):
        if unit:
            groups.setdefault(tuple(sorted(unit)), []).append(row)
    regions = []
    for rows in groups.values():
        rows = rows[:LARGEST]
        features, singles = features_of(study, rows, results.meaning)
        labels = np.array([study.trials[row].number in bad for row in rows])
        found = region(features, labels, singles)
        if found is not None:
            regions.append((_branch(study, rows, len(groups)), found, tuple(rows)))
    return Found(study, bad, far, tuple(regions))


def infeasible(results: Results) -> list[Finding]:
    """Ask each study what share of its trials is infeasible, and whether a region explains it."""
    findings = [_ask(results, study) for study in settled(results)]
    return said_once(findings, results.round.name)


def _ask(results: Results, study: Settled) -> Finding:
    about, count = study.study.label, len(study.trials)
    if count < FEWEST:
        says = f"{count} trials have ended; a share of infeasible ones needs {FEWEST}"
        more = (f"tunewright run {results.round.name}",)
        return Finding("infeasible", about, "cannot_judge", says, {}, more, SECTION)
    found = find_infeasible(results, study)
    low, high = wilson(len(found.bad), count)
    share = len(found.bad) / count
    clear = [(branch, own) for branch, own, _ in found.regions if own.clear]
    says = f"{len(found.bad)} of {count} trials ({share:.0%}; {low:.0%} to {high:.0%})"
    if found.far:
        says += f", {len(found.far)} of them finite but far above the others and their start"
    for branch, own, _ in found.regions:
        word = "nearly all with" if own.clear else "likelier with"
        says += f"; {branch}{word} {own.words}"
    evidence: dict[str, Any] = {
        "infeasible": len(found.bad),
        "trials": count,
        "share": share,
        "interval": [low, high],
        "far_above": list(found.far),
        "reasons": _reasons(results, study),
        "regions": [
            {
                "branch": branch.strip(),
                "feature": own.feature.name,
                "words": own.words,
                "between": list(own.between),
                "purity": own.purity,
                "recall": own.recall,
                "p": own.p,
                "clear": own.clear,
            }
            for branch, own, _ in found.regions
        ],
    }
    verdict, advice = _verdict(results, len(found.bad), count, low, [r for _, r in clear])
    return Finding("infeasible", about, verdict, says, evidence, advice, SECTION)


def _verdict(
    results: Results, bad: int, count: int, low: float, clear: Sequence[Region]
) -> tuple[Verdict, tuple[str, ...]]:
    name = results.round.name
    if bad == count or (bad / count > NEARLY_ALL and low > MANY):
        return "warn", (
            "suspect a bug in the training program first: does one trial learn with a small "
            "learning rate and no schedule?",
            f"tunewright trial {name} {_first(results)}",
        )
    narrower = tuple(f"search only where it trains: leave out {own.words}" for own in clear)
    stable = (
        "or make that region trainable, by warm-up: tunewright probe warmup",
        "or by clipping gradients: tunewright probe clip",
    )
    if low > MANY:
        return "warn", (*narrower, *stable, f"tunewright next {name}")
    if bad / count >= USUAL:
        advice = narrower + stable if clear else (f"tunewright trial {name} {_first(results)}",)
        return "note", advice
    return "ok", narrower + stable if clear else ()


def _first(results: Results) -> int:
    return next((t.number or 0 for t in results.trials if t.status == "infeasible"), 0)


def _reasons(results: Results, study: Settled) -> dict[str, int]:
    """Why trials are infeasible: how many for each code."""
    counts: dict[str, int] = {}
    for trial in study.trials:
        if trial.status == "infeasible":
            code = trial.reason.code if trial.reason else ""
            counts[code] = counts.get(code, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1])[:10])


def _branch(study: Settled, rows: Sequence[int], groups: int) -> str:
    """The values of the conditional parents these trials share, when there are several groups."""
    if groups == 1:
        return ""
    configuration = study.trials[rows[0]].configuration
    parents = {column for h in study.study.space for column, _ in h.when}
    parents -= set(study.study.scientific)
    shared = [f"{p}={configuration[p]}" for p in sorted(parents) if p in configuration]
    return f"{', '.join(shared)}: " if shared else ""
