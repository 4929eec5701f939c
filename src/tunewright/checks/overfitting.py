"""Did validation get worse again? And if so: overfitting, or did training get worse too?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.actions import Action, Advise, CheckRound, Declare, NextRound
from tunewright.checks._better_half import TOP, Judged
from tunewright.checks._curve_question import (
    IMMATERIAL,
    Answer,
    CurveEvidence,
    CurveQuestion,
    Metric,
    Reading,
    Statement,
    TrialFacts,
    ask,
    flags_by_chance,
    in_rank_order,
    look_at,
    objective_metric,
    training_metric,
)
from tunewright.checks.logged_rate import SmallRates, small_rates
from tunewright.checks.spacing import SpacedCurves, at_equal_steps, tables
from tunewright.checks.training_bug import rise_readings
from tunewright.finding import Finding
from tunewright.stats.noise import (
    Floats,
    NoisyCurves,
    mean_variance,
    moving_mean,
    noisy_curves,
)
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MEDIAN_LIMIT = 2.2
_SURELY = 7.0  # standard errors: one such curve is no chance, however many were read
BROAD = 0.2  # of the evaluations: the width of the broad means
Kind = Literal["overfitting", "training too", "unknown"]
_Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Worse:
    """How far each curve rose from its lowest stretch to its end."""

    lowest: npt.NDArray[np.int64]  # first evaluation of the lowest stretch
    rise: Floats  # lowest moving mean to the last one
    z: Floats  # the rise in standard errors
    matters: npt.NDArray[np.bool_]  # large enough, and still there at the very end
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve


def got_worse(curves: NoisyCurves) -> Worse:
    """Compare the lowest moving mean of each curve with its last one, narrow and broad.

    A broad mean finds a slow rise in a rough curve of few evaluations, where a narrow one drowns.
    """
    evaluations, width = curves.evaluations, curves.width
    lowest, rise, z = _risen(curves, curves.means, width)
    apart = evaluations - width - lowest >= width
    end = curves.values[:, -max(width // 2, 2) :].mean(axis=1)
    matters = (
        apart
        & (end - curves.best > 0.5 * rise)
        & (rise > 0.02 * curves.total)
        & (rise > 0.005 * np.abs(curves.best))
        & (np.maximum(curves.total, rise) > 5 * curves.sd)
    )
    flagged = matters & (z > 3 + 40 / evaluations)
    return Worse(lowest, rise, z, matters, flagged | _risen_slowly(curves))


def _risen(curves: NoisyCurves, means: Floats, width: int) -> tuple[_Positions, Floats, Floats]:
    """Where each moving mean is lowest, how far it rose to the end, and that in standard errors."""
    lowest = means.argmin(axis=1)
    rise = means[:, -1] - means.min(axis=1)
    early = curves.factor_at(lowest + width // 2)
    late = curves.factor_at(curves.evaluations - 1 - width // 2)
    return lowest, rise, rise / (curves.mean_sd(width) * np.sqrt(early**2 + late**2))


def _risen_slowly(curves: NoisyCurves) -> npt.NDArray[np.bool_]:
    """Which curves rose by means of a fifth of the evaluations: twice as much must matter."""
    evaluations = curves.evaluations
    width = max(3, round(BROAD * evaluations))
    means = moving_mean(curves.values, width)
    lowest, rise, z = _risen(curves, means, width)
    end = curves.values[:, -max(width // 3, 2) :].mean(axis=1)
    return np.asarray(
        (evaluations - width - lowest >= width)
        & (end - means.min(axis=1) > 0.5 * rise)
        & (rise > 0.04 * curves.total)
        & (rise > 0.005 * np.abs(curves.best))
        & (z > 3 + 25 / evaluations)
    )


@dataclass(frozen=True)
class Worsened(TrialFacts):
    """How far the validation curve of one trial rose from its best stretch to its end."""

    z: float
    rise: float
    improvement: float  # of the whole curve
    best: float  # in the units of the metric
    end: float
    best_step: int
    kind: Kind | None = None  # where the rise is large enough to show it


@dataclass(frozen=True)
class Elsewhere:
    """Which of the trials below the better half overfit: rare ones may show what is to come."""

    judged: int  # curves that were read
    trials: tuple[int | None, ...]  # that overfit, best first
    by_chance: bool  # so few are flagged that noise explains them
    shown: Worsened | None = None  # the clearest of them


@dataclass(frozen=True, kw_only=True)
class OverfittingEvidence(CurveEvidence):
    """Whether validation got worse, and whether training did too."""

    kind: Kind | None = None
    shown: Worsened | None = None  # of the best trial that carries the verdict
    compared: tuple[str, ...] = ()  # regularisers whose settings the round compares
    elsewhere: Elsewhere | None = None  # the trials below the better half; None without curves
    small_rates: SmallRates | None = None  # the best have smaller rates than those that overfit


def overfitting(results: Results) -> list[Finding]:
    """Ask each study whether validation gets worse towards the end of its best trials."""
    question = CurveQuestion(
        "overfitting",
        _validation(results),
        read=lambda results, _, table: _readings(results, table),
        answer=_answer,
        median_limit=MEDIAN_LIMIT,
    )
    return ask(results, question)


def _validation(results: Results) -> Metric:
    """The metric that represents validation: the objective, unless that is the training loss."""
    if results.meaning.of(results.objective.metric) == "train_loss":
        return Metric(results.meaning.name("valid_loss"), 1.0, "valid_loss")
    return objective_metric(results)


def _readings(results: Results, table: SpacedCurves) -> list[Reading[Worsened]]:
    sign = _validation(results).sign
    curves = noisy_curves(table.values)
    worse = got_worse(curves)
    readings = []
    for row, trial in enumerate(table.trials):
        lowest = int(worse.lowest[row])
        kind: Kind | None = None
        if worse.flagged[row] or (worse.matters[row] and worse.z[row] > MEDIAN_LIMIT):
            stretch = _stretches(table.steps[row], lowest, curves.width)
            share = worse.rise[row] / max(curves.total[row], worse.rise[row])
            kind = _kind(trial, results.meaning.name("train_loss"), stretch, float(share))
        facts = Worsened(
            trial=trial.number,
            z=round(float(worse.z[row]), 2),
            rise=float(worse.rise[row]),
            improvement=float(curves.total[row]),
            best=float(sign * curves.best[row]),
            end=float(sign * curves.means[row, -1]),
            best_step=int(table.steps[row, lowest + curves.width // 2]),
            kind=kind,
        )
        z = float(worse.z[row]) if worse.matters[row] else IMMATERIAL
        readings.append(Reading(trial, z, bool(worse.flagged[row]), curves.evaluations, facts))
    return readings


_Stretch = tuple[float, float]  # after the first step, up to and including the second


def _stretches(steps: npt.NDArray[np.int64], lowest: int, width: int) -> tuple[_Stretch, _Stretch]:
    """The lowest stretch of a curve and its last one, in training steps."""
    before = np.concatenate([[2 * steps[0] - steps[1]], steps[:-1]])
    last = len(steps) - width
    return (
        (float(before[lowest]), float(steps[lowest + width - 1])),
        (float(before[last]), float(steps[-1])),
    )


def _kind(trial: Trial, metric: str, stretches: tuple[_Stretch, _Stretch], share: float) -> Kind:
    """Overfitting, unless the training loss rose over the same time, by a comparable share.

    Validation and training may be measured in different units, so each rise is taken as a share
    of the improvement of its curve: a training rise below a quarter of the validation rise is not
    what made validation worse.
    """
    curve = trial.curves.only(metric)
    points = None if curve is None else at_equal_steps(curve)
    if points is None:
        return "unknown"
    steps, values = points
    curves = noisy_curves(values)
    inside = [np.flatnonzero((steps > first) & (steps <= last)) for first, last in stretches]
    if not all(len(at) for at in inside):
        return "unknown"
    early, late = (float(curves.values[0, at].mean()) for at in inside)
    variances = [
        float(mean_variance(curves.correlation, len(at))[0])
        * float(curves.factor_at(int(at[len(at) // 2]))[0]) ** 2
        for at in inside
    ]
    error = float(curves.sd[0]) * float(np.sqrt(sum(variances)))
    rise = late - early
    if rise <= 2 * error or rise / float(curves.total[0]) < 0.25 * share:
        return "overfitting"
    return "training too"


def _answer(
    results: Results, judged: Judged, statement: Statement[Worsened], seen: CurveEvidence
) -> Answer:
    rest = _below(results, judged)
    overfit = [r for r in (*statement.flagged, *rest) if r.flagged and _overfits(r)]
    common = {
        **seen.fields,
        "elsewhere": _elsewhere(rest) if rest else None,
        "small_rates": _small_rates(results, judged, [reading.trial for reading in overfit]),
    }
    if not statement.because:
        evidence = OverfittingEvidence(**common)
        speaks = evidence.elsewhere is not None and not evidence.elsewhere.by_chance
        return Answer("note", evidence, _looks(results, rest)) if speaks else Answer("ok", evidence)
    telling = [reading.facts for reading in statement.speakers if reading.facts.kind is not None]
    kinds = [facts.kind for facts in telling]
    kind = max(dict.fromkeys(kinds), key=kinds.count)  # of equals, that of the better trial
    compared = tuple(n for n in results.round.scientific if n in results.meaning.regularisers)
    evidence = OverfittingEvidence(**common, kind=kind, shown=telling[0], compared=compared)
    if kind == "training too":
        see = Advise("see_finding", {"check": _pointer(results, statement)})
        return Answer(statement.verdict, evidence, (CheckRound(results.round.name), see))
    if kind == "unknown":
        name = (Advise("log_training_loss"), Declare("train_loss"))
        return Answer(statement.verdict, evidence, (*name, *_remedies(results)))
    if compared:
        return Answer("note", evidence)
    return Answer(statement.verdict, evidence, _remedies(results))


def _pointer(results: Results, statement: Statement[Worsened]) -> str:
    """Which check explains a training loss that rose: one for rises that last, or instability."""
    metric = training_metric(results)
    rises = [
        reading
        for table in tables([r.trial for r in statement.speakers], metric.name, metric.sign)
        for reading in rise_readings(results, table)
    ]
    return "training_bug" if any(reading.flagged for reading in rises) else "instability"


def _below(results: Results, judged: Judged) -> list[Reading[Worsened]]:
    """What the curves of all other trials of the study show, best trial first."""
    better = {id(trial) for trial in judged.trials}
    others = [trial for trial in judged.ranked if id(trial) not in better]
    metric = _validation(results)
    readings = [
        reading
        for table in tables(others, metric.name, metric.sign)
        for reading in _readings(results, table)
    ]
    return in_rank_order(readings, others)


def _overfits(reading: Reading[Worsened]) -> bool:
    """Whether validation got worse for another reason than training that got worse too."""
    return reading.facts.kind != "training too"


def _elsewhere(readings: list[Reading[Worsened]]) -> Elsewhere:
    """The trials below the better half that overfit, and whether noise explains them.

    One curve in fifty is flagged by chance, so that a few of many are no evidence, unless one is
    far beyond what the rule asks for.
    """
    flagged = [reading for reading in readings if reading.flagged and _overfits(reading)]
    surely = [r for r in flagged if r.z > _SURELY + 40 / r.points]
    chance = not surely and len(flagged) <= flags_by_chance(len(readings))
    return Elsewhere(
        judged=len(readings),
        trials=tuple(reading.trial.number for reading in flagged),
        by_chance=chance,
        shown=max(flagged, key=lambda r: r.z).facts if flagged else None,
    )


def _small_rates(results: Results, judged: Judged, overfit: list[Trial]) -> SmallRates | None:
    """Whether the best trials escape overfitting by smaller learning rates."""
    marked = {id(trial) for trial in overfit}
    return small_rates(results, [t for t in judged.ranked[:TOP] if id(t) not in marked], overfit)


def _looks(results: Results, rest: list[Reading[Worsened]]) -> tuple[Action, ...]:
    clearest = max((r for r in rest if r.flagged and _overfits(r)), key=lambda r: r.z)
    return (*look_at(results, clearest.trial), Advise("look_at_any_overfitting"))


def _remedies(results: Results) -> tuple[Action, ...]:
    known = list(results.meaning.regularisers)
    return (Advise("regularise_first", {"regularisers": known}), NextRound(results.round.name))
