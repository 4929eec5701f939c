"""Did validation get worse again? And if so: overfitting, or did training get worse too?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.checks._curve_question import Answer, CurveQuestion, Metric, ask, objective_metric
from tunewright.checks._study_rule import IMMATERIAL, Reading, Statement
from tunewright.checks.spacing import SpacedCurves, spaced
from tunewright.finding import LegacyFinding as Finding
from tunewright.stats.noise import Floats, NoisyCurves, mean_variance, noisy_curves
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MEDIAN_LIMIT = 2.2
Kind = Literal["overfitting", "training too", "unknown"]


@dataclass(frozen=True, eq=False)
class Worse:
    """How far each curve rose from its lowest stretch to its end."""

    lowest: npt.NDArray[np.int64]  # first evaluation of the lowest stretch
    rise: Floats  # lowest moving mean to the last one
    z: Floats  # the rise in standard errors
    matters: npt.NDArray[np.bool_]  # large enough, and still there at the very end
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve


def got_worse(curves: NoisyCurves) -> Worse:
    """Compare the lowest moving mean of each curve with its last one."""
    evaluations, width = curves.evaluations, curves.width
    lowest = curves.means.argmin(axis=1)
    rise = curves.means[:, -1] - curves.best
    early = curves.factor_at(lowest + width // 2)
    late = curves.factor_at(evaluations - 1 - width // 2)
    z = rise / (curves.mean_sd(width) * np.sqrt(early**2 + late**2))
    apart = evaluations - width - lowest >= width
    end = curves.values[:, -max(width // 2, 2) :].mean(axis=1)
    matters = (
        apart
        & (end - curves.best > 0.5 * rise)
        & (rise > 0.02 * curves.total)
        & (rise > 0.005 * np.abs(curves.best))
        & (np.maximum(curves.total, rise) > 5 * curves.sd)
    )
    return Worse(lowest, rise, z, matters, matters & (z > 3 + 40 / evaluations))


def overfitting(results: Results) -> list[Finding]:
    """Ask each study whether validation gets worse towards the end of its best trials."""
    question = CurveQuestion(
        "overfitting",
        _validation(results),
        read=lambda _, table: _readings(results, table),
        answer=lambda _, said: _answer(results, said),
        median_limit=MEDIAN_LIMIT,
    )
    return ask(results, question)


def _validation(results: Results) -> Metric:
    """The metric that stands for validation: the objective, unless that is the training loss."""
    if results.meaning.of(results.objective.metric) == "train_loss":
        return Metric(results.meaning.name("valid_loss"), 1.0, "valid_loss")
    return objective_metric(results)


def _readings(results: Results, table: SpacedCurves) -> list[Reading]:
    sign = _validation(results).sign
    curves = noisy_curves(table.values)
    worse = got_worse(curves)
    readings = []
    for row, trial in enumerate(table.trials):
        lowest = int(worse.lowest[row])
        facts: dict[str, object] = {
            "trial": trial.number,
            "z": round(float(worse.z[row]), 2),
            "rise": float(worse.rise[row]),
            "improvement": float(curves.total[row]),
            "best": float(sign * curves.best[row]),
            "end": float(sign * curves.means[row, -1]),
            "best_step": int(table.steps[row, lowest + curves.width // 2]),
        }
        if worse.matters[row] and worse.z[row] > MEDIAN_LIMIT:
            stretch = _stretches(table.steps[row], lowest, curves.width)
            share = worse.rise[row] / max(curves.total[row], worse.rise[row])
            name = results.meaning.name("train_loss")
            facts["kind"] = _kind(trial, name, stretch, float(share))
        z = float(worse.z[row]) if worse.matters[row] else IMMATERIAL
        readings.append(Reading(trial, z, bool(worse.flagged[row]), curves.evaluations, facts))
    return readings


Stretch = tuple[float, float]  # after the first step, up to and including the second


def _stretches(steps: npt.NDArray[np.int64], lowest: int, width: int) -> tuple[Stretch, Stretch]:
    """The lowest stretch of a curve and its last one, in training steps."""
    before = np.concatenate([[2 * steps[0] - steps[1]], steps[:-1]])
    last = len(steps) - width
    return (
        (float(before[lowest]), float(steps[lowest + width - 1])),
        (float(before[last]), float(steps[-1])),
    )


def _kind(trial: Trial, metric: str, stretches: tuple[Stretch, Stretch], share: float) -> Kind:
    """Overfitting, unless the training loss rose over the same time, by a comparable share.

    Validation and training may be measured in different units, so each rise is taken as a share
    of its own curve's improvement: a training rise below a quarter of the validation rise is not
    what made validation worse.
    """
    curve = trial.curves.only(metric)
    points = None if curve is None else spaced(curve)
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


def _answer(results: Results, said: Statement) -> Answer:
    metric = _validation(results).name
    if not said.because:
        return Answer("ok", f"{metric} does not get worse towards the end in the best trials")
    telling = [r.facts for r in said.speakers if "kind" in r.facts]
    kinds = [str(facts["kind"]) for facts in telling]
    kind = max(dict.fromkeys(kinds), key=kinds.count)  # of equals, that of the better trial
    shown = telling[0]
    says = (
        f"{metric} got worse in {said.who}: from {shown['best']:.4g} around step "
        f"{shown['best_step']} to {shown['end']:.4g} at the end"
    )
    evidence = {"kind": kind}
    if kind == "training too":
        says += "; the training loss rose as well: instability rather than overfitting"
        advice: tuple[str, ...] = (
            f"see the finding `instability`: tunewright check {results.round.name}",
            "the fixes stand there in the order to try them",
        )
        return Answer(said.verdict, says, advice, evidence)
    if kind == "unknown":
        says += "; without a training loss it cannot be told from instability"
        advice = (
            'log the training loss, or name it: means={"train_loss": "..."}',
            *_remedies(results),
        )
        return Answer(said.verdict, says, advice, evidence)
    says += " while the training loss did not: overfitting"
    own = [n for n in results.round.scientific if n in results.meaning.regularisers]
    if own:
        says += f" (to be expected at weak settings of {', '.join(own)}, which this round compares)"
        return Answer("note", says, (), evidence)
    return Answer(said.verdict, says, _remedies(results), evidence)


def _remedies(results: Results) -> tuple[str, ...]:
    known = ", ".join(results.meaning.regularisers)
    return (
        f"regularise before comparing settings: tune {known} as nuisance hyperparameters",
        f"tunewright next {results.round.name}",
    )
