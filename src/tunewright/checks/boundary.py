"""Is the search space large enough? The best trials should not crowd at the end of a range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tunewright.actions import Action, Advise, NextRound, RunTrials, SearchRange
from tunewright.checks.positions import (
    Axis,
    StudyTrials,
    axes,
    has_edges,
    losses_of,
    study_trials,
)
from tunewright.design.names import Meaning
from tunewright.design.ranges import Range, choices_of, is_number
from tunewright.finding import Evidence, Finding, Scope, Verdict, merge_not_judged, not_judged
from tunewright.messages import Message
from tunewright.stats.additive import choose_axes, levels, line_and_curve, normal_scores, without
from tunewright.stats.crowding import FEWEST, FEWEST_LONE_WARNS, Look, look, pooled_look
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

_FALSE_FLAGS = 0.03  # per hyperparameter that does not matter
_MOST_FOR_LONE = 2  # searched hyperparameters: with more, some outer 5 % holds the best by chance
_WALL = 0.8  # of the trials beyond the best ones are infeasible
_MOST_UNORDERED = 8  # values of a list without order whose effect is taken off
_MOST_GROWTH = 3.0  # times as many trials, however much wider the space gets
RANK: dict[Verdict, int] = {"ok": 0, "note": 1, "warn": 2}


@dataclass(frozen=True)
class Beyond:
    """The trials between the best ones and the end of the range."""

    trials: int
    infeasible: int


@dataclass(frozen=True)
class Edge:
    """What is found at the ends of one range."""

    column: str
    range: Range
    seen: Look
    verdict: Literal["ok", "note", "warn"] = "ok"
    studies: int = 1  # how many of them were looked at together
    beside: tuple[str, ...] = ()  # hyperparameters whose effect was taken off first
    wall: Beyond | None = None  # nearly all trials beyond the best ones are infeasible
    bound: NaturalBound | None = None  # no value can pass this end
    proposed: Range | None = None  # a wider range to search
    times: float = 1.0  # how much wider that is

    @property
    def speaks(self) -> bool:
        """Whether the best trials lie at an end."""
        return self.verdict != "ok"

    @property
    def action(self) -> Action:
        """What to do about it."""
        if self.wall is not None:
            return Advise("do_not_widen", {"column": self.column})
        if self.bound is not None:
            return Advise("compare_switched_off", {"column": self.column})
        if self.proposed is None:
            return Advise("add_values", {"column": self.column, "side": self.seen.side})
        return SearchRange(self.column, self.proposed)


@dataclass(frozen=True)
class BoundaryEvidence(Evidence):
    """The ends of each range that has some, those at which something is found first."""

    edges: tuple[Edge, ...]
    searched: bool = True  # whether anything is searched at all
    expected_false_flags: float = 0.0
    trials_per_study: int | None = None  # to search the wider ranges as densely

    @property
    def proposed(self) -> dict[str, Range]:
        """The wider ranges to search, by column."""
        return {e.column: e.proposed for e in self.edges if e.proposed is not None}


def boundary(results: Results) -> list[Finding]:
    """Ask each study, all of them pooled, and the scientific lists, whether an end is crowded."""
    studies = study_trials(results)
    searched = [axes(results, study) for study in studies]
    lines = [_with_edges(every) for every in searched]
    looked = [_edges(results.meaning, every) for every in searched]
    findings = [_of_study(results, *parts) for parts in zip(studies, lines, looked, strict=True)]
    findings = merge_not_judged(findings, results.round.name)
    return findings + _pooled(results, lines, looked) + _scientific(results, studies)


def edge(meaning: Meaning, axis: Axis, searched: int, beside: Rulers | None = None) -> Edge:
    """Judge one axis of one study; `searched` is how many axes with ends the study has.

    `beside` are the axes that rule the study: the effect of the others among them is taken off.
    """
    h, feasible = axis.hyperparameter, axis.feasible
    adjusted = None if beside is None else beside.without(axis)
    seen = look(axis.units[feasible], axis.losses[feasible], adjusted)
    seen_edge = Edge(h.column, h.range, seen)
    if seen.side == "":
        return seen_edge
    verdict: Literal["note", "warn"] = "warn"
    losses = axis.losses
    if seen.rule == "adjusted" and beside is not None and adjusted is not None:
        seen_edge = replace(seen_edge, beside=beside.others(axis))
        losses = np.full(len(axis.losses), np.inf)
        losses[feasible] = adjusted
    elif seen.rule == "lone":
        few = searched <= _MOST_FOR_LONE or meaning.of(h.name) == "learning_rate"
        verdict = "warn" if few and seen.feasible >= FEWEST_LONE_WARNS else "note"
    beyond = _beyond(axis, losses, seen)
    if len(beyond) >= 3 and beyond.mean() >= _WALL:
        wall = Beyond(len(beyond), int(beyond.sum()))
        return replace(seen_edge, verdict="note", wall=wall)
    return _wider(replace(seen_edge, verdict=verdict), h.name, meaning)


@dataclass(frozen=True, eq=False)
class Rulers:
    """The axes that decide a study, with the normal scores of its feasible trials."""

    scores: Floats
    blocks: Mapping[str, Floats]  # the terms of each, by name; the clearest first

    def others(self, axis: Axis) -> tuple[str, ...]:
        """The names of those that are not this one."""
        return tuple(name for name in self.blocks if name != axis.name)

    def without(self, axis: Axis) -> Floats | None:
        """The scores without the effects of the others; None where no other rules."""
        blocks = [self.blocks[name] for name in self.others(axis)]
        units = axis.units[axis.feasible]
        if not blocks or len(units) != len(self.scores) or len(np.unique(units)) < 2:
            return None
        return without(blocks, line_and_curve(units), self.scores)


def rulers(lines: Sequence[Axis]) -> Rulers | None:
    """Which of these axes rule; None if none does, or with too few feasible trials."""
    longest = max((len(axis.trials) for axis in lines), default=0)
    whole = [axis for axis in lines if len(axis.trials) == longest]  # active in every trial
    feasible = whole[0].feasible if whole else np.zeros(0, dtype=bool)
    varied = [a for a in whole if 1 < len(np.unique(a.units[feasible])) <= _most_values(a)]
    if int(feasible.sum()) < FEWEST or len(varied) < 2:
        return None
    scores = normal_scores(whole[0].losses[feasible])
    ordered = [axis.hyperparameter.range.ordered for axis in varied]
    blocks = [
        (line_and_curve if in_order else levels)(axis.units[feasible])
        for axis, in_order in zip(varied, ordered, strict=True)
    ]
    ruling = choose_axes(blocks, scores)
    return Rulers(scores, {varied[n].name: blocks[n] for n in ruling}) if ruling else None


def _most_values(axis: Axis) -> float:
    """How many values an axis may have to be fitted: few, if they have no order."""
    return np.inf if axis.hyperparameter.range.ordered else _MOST_UNORDERED


def _wider(seen_edge: Edge, name: str, meaning: Meaning) -> Edge:
    """The edge with the range to search next, or with the bound that forbids one."""
    side = seen_edge.seen.side
    assert side
    bound = natural_bound(name, seen_edge.range, side, meaning)
    if bound is not None:
        return replace(seen_edge, verdict="note", bound=bound)
    wide = seen_edge.range.widen(side)
    if wide is None:
        return seen_edge
    return replace(seen_edge, proposed=wide.range, times=wide.times)


def _beyond(axis: Axis, losses: Floats, seen: Look) -> np.ndarray:
    """Whether each trial beyond the outermost of the best ones is infeasible."""
    order = np.argsort(losses, kind="stable")[: seen.best_few]
    if seen.side == "high":
        return np.asarray(~axis.feasible[axis.units > axis.units[order].max()])
    return np.asarray(~axis.feasible[axis.units < axis.units[order].min()])


def _of_study(
    results: Results, study: StudyTrials, lines: Sequence[Axis], edges: Sequence[Edge]
) -> Finding:
    about = study.study.label
    if not lines:
        searched = any(h.range.choices is not None for h in study.study.space)
        return Finding.of_study("boundary", about, "ok", BoundaryEvidence((), searched))
    if not edges:
        most = max(int(axis.feasible.sum()) for axis in lines)
        facts = {"feasible": most, "needed": FEWEST, "adaptive": study.adaptive}
        why = Message("boundary.few_trials", facts)
        more = RunTrials(results.round.name, max(2 * results.round.trials_per_study, 16))
        return not_judged("boundary", about, why, more)
    return _finding(results, "study", about, edges)


def _finding(results: Results, scope: Scope, about: str, edges: Sequence[Edge]) -> Finding:
    ordered = sorted(edges, key=lambda e: -RANK[e.verdict])
    speaking = [e for e in ordered if e.speaks]
    expected = round(_FALSE_FLAGS * len(edges), 3)
    evidence = BoundaryEvidence(tuple(ordered), expected_false_flags=expected)
    if speaking:
        times = float(np.prod([e.times for e in speaking if e.verdict == "warn"]))
        trials = round(results.round.trials_per_study * min(times, _MOST_GROWTH))
        evidence = replace(evidence, trials_per_study=trials)
    actions = tuple(e.action for e in speaking)
    if speaking and evidence.proposed:
        actions += (NextRound(results.round.name, write=True),)
    return Finding(
        check="boundary",
        scope=scope,
        about=about,
        verdict=speaking[0].verdict if speaking else "ok",
        evidence=evidence,
        actions=actions,
    )


def _pooled(
    results: Results, lines: Sequence[Sequence[Axis]], looked: Sequence[Sequence[Edge]]
) -> list[Finding]:
    """Judge by all studies together an axis that none of them could flag alone."""
    flagged = {e.column for edges in looked for e in edges if e.speaks}
    shared: dict[str, list[Axis]] = {}
    for axes_of_study in lines:
        for axis in axes_of_study:
            shared.setdefault(axis.name, []).append(axis)
    edges = []
    for name, same_axes in shared.items():
        seen = None
        if name not in flagged:
            seen = pooled_look(
                [axis.units[axis.feasible] for axis in same_axes],
                [axis.losses[axis.feasible] for axis in same_axes],
                _shared_points(same_axes),
            )
        if seen is not None and seen.side:
            h = same_axes[0].hyperparameter
            seen_edge = Edge(h.column, h.range, seen, "warn", studies=len(same_axes))
            edges.append(_wider(seen_edge, h.name, results.meaning))
    return [_finding(results, "round", results.round.name, edges)] if edges else []


def _shared_points(same_axes: Sequence[Axis]) -> list[list[int | None]] | None:
    """The index of every feasible trial, if a trial of the same index lies at the same place."""
    place: dict[int | None, float] = {}
    indices = []
    for axis in same_axes:
        pairs = zip(axis.trials, axis.feasible, strict=True)
        names = [trial.index for trial, feasible in pairs if feasible]
        for name, unit in zip(names, axis.units[axis.feasible], strict=True):
            if name is None or abs(place.setdefault(name, unit) - unit) > 1e-9:
                return None
        indices.append(names)
    return indices


def _scientific(results: Results, studies: Sequence[StudyTrials]) -> list[Finding]:
    """Whether the best settings crowd at an end of an ordered scientific list."""
    trials = [(study.study.scientific, trial) for study in studies for trial in study.trials]
    losses = losses_of(results, [trial for _, trial in trials])
    feasible = np.isfinite(losses)
    edges = []
    for name, declared in results.round.scientific.items():
        if choices_of(declared) is None or not has_edges(declared):
            continue
        place = [declared.along(declared.unit(setting[name])) for setting, _ in trials]
        units = np.array(place)[feasible] if trials else np.empty(0)
        if len(units) < FEWEST:
            continue
        seen = look(units, losses[feasible])
        if seen.rule != "crowd":
            continue
        edges.append(_wider(Edge(name, declared, seen, "warn"), name, results.meaning))
    return [_finding(results, "round", results.round.name, edges)] if edges else []


def edges_of(results: Results) -> Mapping[int, tuple[Edge, ...]]:
    """The edges found in each study, by its number."""
    return {
        study.study.number: tuple(_edges(results.meaning, axes(results, study)))
        for study in study_trials(results)
    }


def _with_edges(every: Sequence[Axis]) -> list[Axis]:
    return [axis for axis in every if has_edges(axis.hyperparameter.range)]


def _edges(meaning: Meaning, every: Sequence[Axis]) -> list[Edge]:
    lines, ruling = _with_edges(every), rulers(every)
    enough = [axis for axis in lines if axis.feasible.sum() >= FEWEST]
    return [edge(meaning, axis, len(lines), ruling) for axis in enough]


# ---- bounds that no value can pass: where a range ends at one, a wider range makes no sense


# meanings whose values cannot pass 1
_BELOW_ONE = ("momentum", "beta1", "beta2")


@dataclass(frozen=True)
class NaturalBound:
    """A value that no other can pass."""

    value: float
    off: bool = False  # whether the hyperparameter is switched off there


def natural_bound(
    name: str, searched: Range, side: Literal["low", "high"], meaning: Meaning
) -> NaturalBound | None:
    """The bound no value can pass, when this end of the range lies at it.

    >>> from tunewright.design.ranges import linear
    >>> natural_bound("dropout", linear(0.0, 0.5), "low", Meaning())
    NaturalBound(value=0.0, off=True)
    """
    low, high = searched.ends or (math.nan, math.nan)
    at = float(low if side == "low" else high)
    off = meaning.off_by_name.get(name)
    if is_number(off) and float(off) == at:
        return NaturalBound(at, off=True)
    if side == "low" and at == 0:
        return NaturalBound(0.0, off=name in meaning.regularisers)
    unit_like = meaning.of(name) in _BELOW_ONE or name in meaning.regularisers
    if side == "high" and at == 1 and unit_like:
        return NaturalBound(1.0)
    return None
