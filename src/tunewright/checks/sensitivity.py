"""Which hyperparameters matter, which act together, and which can be fixed?

A functional analysis of variance with the plainest model that sees an optimum: each axis adds a
quadratic (a list without order one level per value) to the normal scores of the objective. What an
axis explains beyond all others is tested by F, with an interval from resampled residuals; where
trials are too few for all axes at once (fewer than three for each term), each is tested beside
those that rule (stats/additive.py). *Interactions* are products of two positions beyond that fit.

PED-ANOVA (how differently the best quarter is spread along an axis) was measured beside it: at 16
trials it found the main hyperparameter of a quadratic world in 7 % of studies, this in all; the
second one in 0 and 26 %, at 30 trials in 3 and 88 %. Both call one without effect in 0 to 8 % at
p < 0.05.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.actions import Action, Advise, RunTrials
from tunewright.checks.positions import Axis, StudyTrials, axes, study_trials
from tunewright.finding import Evidence, Finding, merge_not_judged, not_judged
from tunewright.messages import Message
from tunewright.stats.additive import (
    basis,
    choose_axes,
    levels,
    line_and_curve,
    normal_scores,
    p_beyond,
    with_ones,
)
from tunewright.stats.noise import Floats
from tunewright.store.results import Results

_FEWEST = 10  # feasible trials
_SPARE = 4  # degrees of freedom a fit leaves
_FEWEST_FOR_ALL = 3  # feasible trials for each term, to fit every axis at once
_FEWEST_PER_TERM = 2  # feasible trials for each term of the fit, to look for interactions
LARGEST = 2000  # trials: more change nothing but the work
_MOST_VALUES = 8  # of a list without order
_MOST_AXES = 40
_MOST_NAMED = 4  # hyperparameters named as candidates to fix
_RESAMPLES = 200
_LEVEL = 0.05  # of false discoveries among those reported to matter
_UNSEEN = 0.2  # a p above it: no sign of an effect


@dataclass(frozen=True)
class Importance:
    """How much of the objective one hyperparameter explains that no other does."""

    name: str
    share: float  # of what all of them explain, noise taken off
    interval: tuple[float, float]  # 90 %
    p: float
    matters: bool  # at a false discovery rate of 5 %
    alone: bool  # tested beside those that rule only, for want of trials
    best_quarter: tuple[float, float] | None  # 10 to 90 % of their positions; None without order


@dataclass(frozen=True)
class Interaction:
    """Two hyperparameters whose product explains more than each alone."""

    names: tuple[str, str]
    t: float
    p: float


@dataclass(frozen=True)
class SensitivityEvidence(Evidence):
    """How much each hyperparameter of a study decides, the most important first."""

    feasible: int
    importances: tuple[Importance, ...]
    interactions: tuple[Interaction, ...] | None  # None: too few trials to look for them
    # conditional ones, each among the trials that have it; their shares hold for these trials
    conditional: tuple[Importance, ...] = ()
    unweighed: tuple[str, ...] = ()  # conditional ones that too few trials have

    @property
    def matter(self) -> tuple[str, ...]:
        """The names of those that decide."""
        return tuple(i.name for i in (*self.importances, *self.conditional) if i.matters)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The names of those without a sign of an effect."""
        return tuple(i.name for i in self.importances if i.p > _UNSEEN)

    @property
    def together(self) -> tuple[str, ...]:
        """The names of those that act together with another."""
        return tuple(name for pair in self.interactions or () for name in pair.names)

    def to_data(self) -> dict[str, Any]:
        """The evidence as plain data, with the names without a sign of an effect."""
        return {**super().to_data(), "unseen": list(self.unseen)}


def importances(lines: Sequence[Axis]) -> list[Importance]:
    """The importance of each axis, from feasible trials in which all of them are active."""
    rows = _feasible(lines)
    scores = normal_scores(lines[0].losses[rows])
    blocks = [_terms(axis, axis.units[rows]) for axis in lines]
    count, terms = len(rows), 1 + sum(block.shape[1] for block in blocks)
    few = count < _FEWEST_FOR_ALL * terms
    rulers = choose_axes(blocks, scores) if few else list(range(len(blocks)))
    squares, drawn, p = [], [], []
    random = np.random.default_rng([0x5E45, count])
    picked = random.integers(0, count, (_RESAMPLES, count))
    for number, block in enumerate(blocks):
        others = [blocks[n] for n in rulers if n != number]
        while others and sum(b.shape[1] for b in (*others, block)) > count - _SPARE:
            others.pop()  # the least clear of them
        rest = basis(with_ones(others, count))
        added = basis(block - rest @ (rest.T @ block))
        full = basis(with_ones([*others, block], count))
        fitted = full @ (full.T @ scores)
        residuals = scores - fitted
        freedom = count - full.shape[1]
        noise = float(residuals @ residuals) / freedom
        size = added.shape[1]
        explained = float(((added.T @ scores) ** 2).sum())
        p.append(p_beyond(block, rest, scores))
        again = fitted + residuals[picked] * np.sqrt(count / freedom)
        squares.append(max(0.0, explained - size * noise))
        drawn.append(np.maximum(0.0, ((again @ added) ** 2).sum(axis=1) - 2 * size * noise))
    total = np.maximum(np.sum(drawn, axis=0), 1e-12)
    low, high = np.quantile(np.array(drawn) / total, [0.05, 0.95], axis=1)
    shares = np.array(squares) / max(sum(squares), 1e-12)
    real = discoveries(np.array(p))
    top = np.argsort(lines[0].losses[rows], kind="stable")[: max(4, count // 4)]
    return [
        Importance(
            name=axis.name,
            share=float(shares[n]),
            interval=(float(min(low[n], shares[n])), float(max(high[n], shares[n]))),
            p=p[n],
            matters=bool(real[n]),
            alone=few,
            best_quarter=_where(axis, axis.units[rows][top]),
        )
        for n, axis in enumerate(lines)
    ]


def interactions(lines: Sequence[Axis]) -> list[Interaction] | None:
    """The pairs that act together, the clearest first; None with too few trials to look."""
    from scipy.special import stdtr

    ordered = [axis for axis in lines if not _unordered(axis)]
    rows = _feasible(lines)
    blocks = [_terms(axis, axis.units[rows]) for axis in lines]
    terms = 1 + sum(block.shape[1] for block in blocks)
    if len(ordered) < 2 or len(rows) < _FEWEST_PER_TERM * terms + 2:
        return None
    scores = normal_scores(lines[0].losses[rows])
    fit = basis(with_ones(blocks, len(rows)))
    rest = scores - fit @ (fit.T @ scores)
    freedom = len(rows) - fit.shape[1] - 1
    pairs = []
    for first, second in itertools.combinations(ordered, 2):
        product = _centre(first.units[rows]) * _centre(second.units[rows])
        product = product - fit @ (fit.T @ product)
        size = float(product @ product)
        if size < 1e-12:
            continue
        slope = float(product @ rest) / size
        left = float(((rest - slope * product) ** 2).sum()) / freedom
        t = slope / np.sqrt(max(left, 1e-300) / size)
        pairs.append(
            Interaction((first.name, second.name), float(t), 2 * float(stdtr(freedom, -abs(t))))
        )
    real = discoveries(np.array([pair.p for pair in pairs]))
    kept = [pair for pair, is_real in zip(pairs, real, strict=True) if is_real]
    return sorted(kept, key=lambda pair: pair.p)


def discoveries(p: Floats) -> npt.NDArray[np.bool_]:
    """Which of several tests speak, at a false discovery rate of 5 % (Benjamini-Hochberg).

    >>> discoveries(np.array([0.001, 0.2, 0.02])).tolist()
    [True, False, True]
    """
    order = np.argsort(p)
    below = p[order] <= _LEVEL * np.arange(1, len(p) + 1) / max(len(p), 1)
    last = int(np.flatnonzero(below).max(initial=-1))
    real = np.zeros(len(p), dtype=bool)
    real[order[: last + 1]] = True
    return real


def sensitivity(results: Results) -> list[Finding]:
    """Ask each study which of its hyperparameters decide about a good result."""
    findings = [_ask(results, study) for study in study_trials(results)]
    return merge_not_judged(findings, results.round.name)


def _why_no_axis(study: StudyTrials) -> Message:
    """Why there is nothing to weigh: too few trials, or nothing that all of them searched."""
    feasible = sum(trial.value is not None for trial in study.trials)
    if study.study.space and feasible < _FEWEST:
        facts = {"feasible": feasible, "needed": _FEWEST, "adaptive": study.adaptive}
        return Message("sensitivity.few_trials", facts)
    return Message("sensitivity.nothing_searched")


def _ask(results: Results, study: StudyTrials) -> Finding:
    about, name = study.study.label, results.round.name
    # conditional ones are active in some trials only, and are weighed among these
    every = axes(results, study)
    lines = [a for a in every if len(a.trials) == len(study.trials)]
    lines = [a for a in lines if _usable(a)][:_MOST_AXES]
    partial = [a for a in every if len(a.trials) < len(study.trials)]
    weighed = [i for a in partial[:_MOST_AXES] if (i := _conditional(a, every)) is not None]
    feasible = sum(t.status == "completed" for t in study.trials)
    if not lines and not weighed:
        return not_judged("sensitivity", about, _why_no_axis(study))
    if feasible < _FEWEST:
        facts = {"feasible": feasible, "needed": _FEWEST}
        more = RunTrials(name, max(16, 2 * results.round.trials_per_study))
        why = Message("judge.feasible_trials", facts)
        return not_judged("sensitivity", about, why, more)
    pairs = interactions(lines) if lines else None
    known = {i.name for i in weighed}
    shared = importances(lines) if lines else []
    evidence = SensitivityEvidence(
        feasible=feasible,
        importances=tuple(sorted(shared, key=lambda i: -i.share)),
        interactions=None if pairs is None else tuple(pairs),
        conditional=tuple(sorted(weighed, key=lambda i: i.p)),
        unweighed=tuple(a.name for a in partial if a.name not in known),
    )
    actions: tuple[Action, ...] = ()
    if evidence.unseen and evidence.matter:
        actions = (Advise("fix_candidates", {"names": evidence.unseen[:_MOST_NAMED]}),)
    return Finding.of_study("sensitivity", about, "ok", evidence, actions)


def _conditional(axis: Axis, every: Sequence[Axis]) -> Importance | None:
    """What a conditional hyperparameter explains in the trials that have it; None if too few do."""
    if int(axis.feasible.sum()) < _FEWEST or not _usable(axis):
        return None
    beside = [a for other in every if (a := _in_trials_of(other, axis)) is not None]
    lines = [a for a in beside if a.name == axis.name or _usable(a)][:_MOST_AXES]
    return next((i for i in importances(lines) if i.name == axis.name), None)


def _in_trials_of(other: Axis, axis: Axis) -> Axis | None:
    """An axis in the trials of another; None where not all of them have it."""
    rows = {trial.number: row for row, trial in enumerate(other.trials)}
    if any(trial.number not in rows for trial in axis.trials):
        return None
    kept = [rows[trial.number] for trial in axis.trials]
    return Axis(other.hyperparameter, axis.trials, other.units[kept], other.losses[kept])


def _feasible(lines: Sequence[Axis]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.isfinite(lines[0].losses))[:LARGEST]


def _terms(axis: Axis, units: Floats) -> Floats:
    """What the model knows of one axis: a line and a curve, or one column for each value."""
    return levels(units) if _unordered(axis) else line_and_curve(units)


def _centre(units: Floats) -> Floats:
    return np.asarray(units - units.mean())


def _usable(axis: Axis) -> bool:
    values = len(np.unique(axis.units[axis.feasible]))
    return values > 1 and (values <= _MOST_VALUES or not _unordered(axis))


def _unordered(axis: Axis) -> bool:
    return not axis.hyperparameter.range.ordered


def _where(axis: Axis, units: Floats) -> tuple[float, float] | None:
    if _unordered(axis):
        return None
    low, high = np.quantile(units, [0.1, 0.9])
    return float(low), float(high)
