"""Had the best trials levelled off long before training ended? Then it can be shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.actions import Action, Advise, NextRound
from tunewright.checks._better_half import TOP, Judged
from tunewright.checks._curve_question import (
    IMMATERIAL,
    Answer,
    CurveEvidence,
    CurveQuestion,
    Reading,
    Statement,
    TrialFacts,
    ask,
    objective_metric,
    training_metric,
)
from tunewright.checks.best_step import best_steps, shorter
from tunewright.checks.spacing import SpacedCurves, tables
from tunewright.checks.trial_sd import trial_sd
from tunewright.finding import Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves
from tunewright.store.results import Results

_FEWEST = 40  # evaluations: with 20 no plateau stands out from a slow descent
LIMIT, MEDIAN_LIMIT = 2.0, 1.5
SHARE = 0.02  # of the improvement and of the best value: what counts as no difference by default


@dataclass(frozen=True, eq=False)
class Saturation:
    """Whether the second half of training changed each curve by less than a margin."""

    gain: Floats  # from the middle of training to its end; positive is better
    margin: Floats  # a difference smaller than this is none
    z: Floats  # how surely the change lies within the margin, in standard errors
    matters: npt.NDArray[np.bool_]  # the end is about as good as the curve ever was
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve
    levels_at: npt.NDArray[np.int64]  # first evaluation from which the curve is within the margin


def saturation(curves: NoisyCurves, margin: float | None = None) -> Saturation:
    """Test the middle fifth of each curve against its last fifth for equivalence.

    `margin` is the smallest difference that matters, in units of the metric; without one it is
    2 % of the improvement or of the best value, whichever is smaller. Two-sided: a curve that
    rises in its second half has not levelled off either.
    """
    width = max(4, round(0.2 * curves.evaluations))
    middle = curves.evaluations // 2 - width // 2
    before = curves.values[:, middle : middle + width].mean(axis=1)
    gain = before - curves.values[:, -width:].mean(axis=1)
    margins = np.minimum(SHARE * curves.total, SHARE * np.abs(curves.best))
    if margin is not None:
        margins = np.full_like(margins, margin)
    error = curves.mean_sd(width) * np.sqrt(2)
    z = (margins - np.abs(gain)) / error
    # a curve that fell, got worse and stayed there has not levelled off at what it can reach
    matters = curves.values[:, -width:].mean(axis=1) - curves.best < margins + 2 * error
    levels_at = (curves.means <= (curves.best + margins)[:, None]).argmax(axis=1) + curves.width - 1
    return Saturation(gain, margins, z, matters, matters & (z > LIMIT), levels_at)


@dataclass(frozen=True)
class SecondHalf(TrialFacts):
    """What the second half of training changed in one trial."""

    z: float
    gain: float
    margin: float
    settled_step: int
    last_step: int


@dataclass(frozen=True)
class TrainingLevelling:
    """Whether the training loss of the five best trials had levelled off by half of training."""

    metric: str
    settled: int  # trials, by the rule for one curve
    of: int


@dataclass(frozen=True, kw_only=True)
class SaturatedEvidence(CurveEvidence):
    """Where the best trials reached their best value, and how long training should be."""

    best_steps: tuple[int, ...]  # of the best trials
    max_train_steps: int  # in steps as logged
    proposed_max_train_steps: int | None
    rule: Literal["", "settled_by_half", "first_tenth", "first_half"] = ""  # what spoke
    shown: SecondHalf | None = None  # of the best trial that carries the verdict
    margin_declared: bool = False  # by the round's detect= or by repeats, not the default
    second_half_matters: bool = False  # it changed every one of the best by more than the margin
    still_improving: bool = False  # though by no more than the margin, over the last quarter
    training: TrainingLevelling | None = None  # None: no training loss that can be read


def saturated(results: Results) -> list[Finding]:
    """Ask each study whether its best trials had levelled off by half of training."""
    question = CurveQuestion(
        "saturated",
        objective_metric(results),
        read=_readings,
        answer=_answer,
        median_limit=MEDIAN_LIMIT,
        many="note",  # weaker trials show little about how long the best need
        fewest=_FEWEST,
    )
    return ask(results, question)


def _training(results: Results, judged: Judged) -> TrainingLevelling | None:
    """The same question to the training loss of the five best trials, by the usual margin."""
    metric = training_metric(results)
    if metric.name == results.objective.metric:
        return None
    best = judged.trials[:TOP]
    flags = [
        bool(flagged)
        for table in tables(best, metric.name, metric.sign)
        if table.values.shape[1] >= _FEWEST
        for flagged in saturation(noisy_curves(table.values)).flagged
    ]
    return TrainingLevelling(metric.name, sum(flags), len(flags)) if flags else None


def _margin(results: Results, judged: Judged) -> float | None:
    """The smallest difference that matters, if the round or its repeats give one."""
    return results.round.detect or trial_sd(results, judged.study)


def _readings(results: Results, judged: Judged, table: SpacedCurves) -> list[Reading[SecondHalf]]:
    change = saturation(noisy_curves(table.values), _margin(results, judged))
    readings = []
    for row, trial in enumerate(table.trials):
        facts = SecondHalf(
            trial=trial.number,
            z=round(float(change.z[row]), 2),
            gain=float(change.gain[row]),
            margin=float(change.margin[row]),
            settled_step=int(table.steps[row, change.levels_at[row]]),
            last_step=int(table.steps[row, -1]),
        )
        z = float(change.z[row]) if change.matters[row] else IMMATERIAL
        flagged = bool(change.flagged[row])
        readings.append(Reading(trial, z, flagged, table.values.shape[1], facts))
    return readings


def _answer(
    results: Results, judged: Judged, statement: Statement[SecondHalf], seen: CurveEvidence
) -> Answer:
    steps = best_steps(results, judged.ranked)
    common = {
        **seen.fields,
        "best_steps": steps.steps,
        "max_train_steps": steps.max_train_steps,
        "margin_declared": _margin(results, judged) is not None,
        "training": _training(results, judged),
    }
    if statement.because:
        steps_to_level = [float(reading.facts.settled_step) for reading in statement.speakers]
        proposed = steps.no_shorter(shorter(np.array(steps_to_level)))
        evidence = SaturatedEvidence(
            **common,
            proposed_max_train_steps=proposed,
            rule="settled_by_half",
            shown=statement.speakers[0].facts,
        )
        shorten = () if proposed is None else (_shorten(proposed),)
        actions: tuple[Action, ...] = (*shorten, NextRound(results.round.name))
        if not evidence.margin_declared:
            actions += (Advise("declare_margin"),)
        return Answer(statement.verdict, evidence, actions)
    common["proposed_max_train_steps"] = steps.proposed
    common["second_half_matters"] = bool(statement.top) and all(
        abs(reading.facts.gain) > reading.facts.margin for reading in statement.top
    )
    if steps.proposed is None:
        return Answer("ok", SaturatedEvidence(**common))
    actions = (_shorten(steps.proposed), Advise("regularise_if_overfitting"))
    if len(steps.steps) >= 5 and steps.early == len(steps.steps):
        return Answer("warn", SaturatedEvidence(**common, rule="first_tenth"), actions)
    return Answer("note", SaturatedEvidence(**common, rule="first_half"), actions)


def _shorten(steps: int) -> Action:
    return Advise("train_shorter", {"max_train_steps": steps})
