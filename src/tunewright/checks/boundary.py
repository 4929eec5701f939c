"""Is the search space large enough? The best trials should not crowd at the end of a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tunewright.checks.positions import (
    Axis,
    Settled,
    along,
    axes,
    has_edges,
    losses_of,
    settled,
)
from tunewright.checks.wider import in_words, natural_bound, wider
from tunewright.design.conditions import Hyperparameter
from tunewright.design.names import Meaning
from tunewright.design.ranges import Choice, Integers, Linear, Range
from tunewright.finding import LegacyFinding as Finding, Verdict, said_once
from tunewright.stats.crowding import FEWEST, FEWEST_LONE_WARNS, Look, look, pooled_look
from tunewright.store.results import Results

SECTION = "Identifying bad search space boundaries"
FALSE_FLAGS = 0.03  # per hyperparameter that does not matter
MOST_FOR_LONE = 2  # searched hyperparameters: with more, some outer 5 % holds the best by chance
WALL = 0.8  # of the trials beyond the best ones are infeasible
RANK: dict[Verdict, int] = {"ok": 0, "note": 1, "warn": 2}


@dataclass(frozen=True)
class Edge:
    """What is found at the ends of one range."""

    hyperparameter: Hyperparameter
    seen: Look
    verdict: Literal["ok", "note", "warn"] = "ok"
    says: str = ""
    advice: tuple[str, ...] = ()
    proposed: Range | None = None
    times: float = 1.0  # how much wider that is

    def as_data(self) -> dict[str, Any]:
        """The edge as plain data."""
        return {
            "hyperparameter": self.hyperparameter.column,
            "range": str(self.hyperparameter.range),
            "verdict": self.verdict,
            "side": self.seen.side,
            "rule": self.seen.rule,
            "best": self.seen.best,
            "median_of_best": self.seen.middle,
            "best_few": self.seen.best_few,
            "feasible": self.seen.feasible,
            "p": self.seen.p,
            "proposed": None if self.proposed is None else str(self.proposed),
            "times_wider": self.times,
        }


def boundary(results: Results) -> list[Finding]:
    """Ask each study, all of them pooled, and the scientific lists, whether an end is crowded."""
    studies = settled(results)
    lines = [
        [a for a in axes(results, own) if has_edges(a.hyperparameter.range)] for own in studies
    ]
    looked = [_edges(results.meaning, own) for own in lines]
    findings = [
        _of_study(results, study, own, edges)
        for study, own, edges in zip(studies, lines, looked, strict=True)
    ]
    findings = said_once(findings, results.round.name)
    return findings + _pooled(results, lines, looked) + _scientific(results, studies)


def edge(meaning: Meaning, axis: Axis, searched: int) -> Edge:
    """What one axis of one study says; `searched` is how many axes with ends the study has."""
    h, feasible = axis.hyperparameter, axis.feasible
    seen = look(axis.units[feasible], axis.losses[feasible])
    if seen.side == "":
        return Edge(h, seen)
    where = f"the {seen.side} end of {in_words(h.range)}"
    if seen.rule == "crowd":
        says = f"the best {seen.best_few} trials crowd at {where} of {h.column} (p {seen.p:.3f})"
        verdict: Literal["note", "warn"] = "warn"
    else:
        says = f"the best trial stands alone and far ahead at {where} of {h.column}"
        few = searched <= MOST_FOR_LONE or meaning.of(h.name) == "learning_rate"
        verdict = "warn" if few and seen.feasible >= FEWEST_LONE_WARNS else "note"
    beyond = _beyond(axis, seen)
    if len(beyond) >= 3 and beyond.mean() >= WALL:
        says += f", and {int(beyond.sum())} of the {len(beyond)} trials beyond it are infeasible"
        advice = ("do not widen it: what lies beyond diverges; see the finding `instability`",)
        return Edge(h, seen, "note", says, advice)
    return _wider(h, seen, verdict, says, meaning)


def _wider(
    h: Hyperparameter, seen: Look, verdict: Literal["note", "warn"], says: str, meaning: Meaning
) -> Edge:
    assert seen.side
    bound = natural_bound(h.name, h.range, seen.side, meaning)
    if bound:
        advice = (f"compare with {h.name} switched off, in a round of its own",)
        return Edge(h, seen, "note", f"{says}, a natural bound: {bound}", advice)
    wide = wider(h.range, seen.side)
    if wide is None:
        word = "larger" if seen.side == "high" else "smaller"
        return Edge(h, seen, verdict, says, (f"add {word} values to the list of {h.column}",))
    advice = (f"search {h.column} in {wide.range}",)
    return Edge(h, seen, verdict, says, advice, wide.range, wide.times)


def _beyond(axis: Axis, seen: Look) -> np.ndarray:
    """Whether each trial beyond the outermost of the best ones is infeasible."""
    order = np.argsort(axis.losses, kind="stable")[: seen.best_few]
    if seen.side == "high":
        return np.asarray(~axis.feasible[axis.units > axis.units[order].max()])
    return np.asarray(~axis.feasible[axis.units < axis.units[order].min()])


def _of_study(
    results: Results, study: Settled, lines: Sequence[Axis], edges: Sequence[Edge]
) -> Finding:
    about = study.study.label
    if not lines:
        searched = any(isinstance(h.range, Choice) for h in study.study.space)
        says = "only lists without an order are searched" if searched else "nothing is searched"
        return Finding(
            "boundary", about, "ok", f"{says}, so there is no end to crowd at", {}, (), SECTION
        )
    if not edges:
        most = max(int(axis.feasible.sum()) for axis in lines)
        says = f"{most} feasible trials with known positions; this question needs {FEWEST}"
        if study.adaptive:
            says += f" ({study.adaptive} of an adaptive search do not count: they crowd by design)"
        return Finding("boundary", about, "cannot_judge", says, {}, _more(results), SECTION)
    return _finding(results, about, edges)


def _finding(results: Results, about: str, edges: Sequence[Edge]) -> Finding:
    speaking = sorted((e for e in edges if e.says), key=lambda e: -RANK[e.verdict])
    evidence: dict[str, Any] = {
        "hyperparameters": [e.as_data() for e in edges],
        "expected_false_flags": round(FALSE_FLAGS * len(edges), 3),
    }
    if not speaking:
        shown = "; ".join(_inside(e) for e in edges[:3])
        more = f" and {len(edges) - 3} more inside" if len(edges) > 3 else ""
        return Finding("boundary", about, "ok", f"{shown}{more}", evidence, (), SECTION)
    evidence["proposed"] = {
        e.hyperparameter.column: str(e.proposed) for e in speaking if e.proposed is not None
    }
    times = float(np.prod([e.times for e in speaking if e.verdict == "warn"]))
    evidence["trials_per_study"] = round(results.round.trials_per_study * min(times, 3.0))
    advice = tuple(line for e in speaking for line in e.advice)
    if evidence["proposed"]:
        advice += (f"tunewright next {results.round.name} --write",)
    says = "; ".join(e.says for e in speaking)
    return Finding("boundary", about, speaking[0].verdict, says, evidence, advice, SECTION)


def _inside(e: Edge) -> str:
    scale = _scale(e.hyperparameter.range)
    return f"best {e.hyperparameter.column} at {e.seen.best:.2f} of its {scale}"


def _scale(searched: Range) -> str:
    if isinstance(searched, Choice):
        return "list"
    if isinstance(searched, Integers):
        return "log range" if searched.log else "range"
    return "range" if isinstance(searched, Linear) else "log range"


def _pooled(
    results: Results, lines: Sequence[Sequence[Axis]], looked: Sequence[Sequence[Edge]]
) -> list[Finding]:
    """What the studies say together about an axis that none of them could flag on its own."""
    flagged = {e.hyperparameter.column for edges in looked for e in edges if e.says}
    shared: dict[str, list[Axis]] = {}
    for own in lines:
        for axis in own:
            shared.setdefault(axis.name, []).append(axis)
    edges = []
    for name, own_axes in shared.items():
        seen = None
        if name not in flagged:
            seen = pooled_look(
                [axis.units[axis.feasible] for axis in own_axes],
                [axis.losses[axis.feasible] for axis in own_axes],
                _shared_points(own_axes),
            )
        if seen is not None and seen.side:
            h = own_axes[0].hyperparameter
            says = (
                f"taken together, the best trials of {len(own_axes)} studies crowd at the "
                f"{seen.side} end of {in_words(h.range)} of {h.column} (p {seen.p:.3f})"
            )
            edges.append(_wider(h, seen, "warn", says, results.meaning))
    return [_finding(results, f"round {results.round.name}", edges)] if edges else []


def _shared_points(own_axes: Sequence[Axis]) -> list[list[int | None]] | None:
    """The index of every feasible trial, if a trial of the same index lies at the same place."""
    place: dict[int | None, float] = {}
    found = []
    for axis in own_axes:
        names = [
            t.index for t, feasible in zip(axis.trials, axis.feasible, strict=True) if feasible
        ]
        for name, unit in zip(names, axis.units[axis.feasible], strict=True):
            if name is None or abs(place.setdefault(name, unit) - unit) > 1e-9:
                return None
        found.append(names)
    return found


def _scientific(results: Results, studies: Sequence[Settled]) -> list[Finding]:
    """Whether the best settings crowd at an end of an ordered scientific list."""
    trials = [(own.study.scientific, trial) for own in studies for trial in own.trials]
    losses = losses_of(results, [trial for _, trial in trials])
    feasible = np.isfinite(losses)
    edges = []
    for name, declared in results.round.scientific.items():
        if not isinstance(declared, Choice) or not has_edges(declared):
            continue
        place = [along(declared, declared.unit(setting[name])) for setting, _ in trials]
        units = np.array(place)[feasible] if trials else np.empty(0)
        if len(units) < FEWEST:
            continue
        seen = look(units, losses[feasible])
        if seen.rule != "crowd":
            continue
        h = Hyperparameter(name, name, declared)
        says = f"the best {seen.best_few} trials crowd at the {seen.side} end of {declared} "
        says += f"of {name} (p {seen.p:.3f})"
        edges.append(_wider(h, seen, "warn", says, results.meaning))
    return [_finding(results, f"round {results.round.name}", edges)] if edges else []


def _more(results: Results) -> tuple[str, ...]:
    wanted = max(2 * results.round.trials_per_study, 16)
    return (f"tunewright run {results.round.name} --trials {wanted}",)


def edges_of(results: Results) -> Mapping[int, tuple[Edge, ...]]:
    """The edges found in each study, by its number."""
    found = {}
    for own in settled(results):
        lines = [a for a in axes(results, own) if has_edges(a.hyperparameter.range)]
        found[own.study.number] = tuple(_edges(results.meaning, lines))
    return found


def _edges(meaning: Meaning, lines: Sequence[Axis]) -> list[Edge]:
    return [edge(meaning, axis, len(lines)) for axis in lines if axis.feasible.sum() >= FEWEST]
