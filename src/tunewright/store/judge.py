"""What a trial's curves are worth under an objective; constraints are judged here, on reading.

The record holds how the training program ended. Whether that makes a trial the best one depends on
the objective, which may be changed afterwards, so nothing of it is stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tunewright.design.objective import Objective
from tunewright.store.curves import Curve, Curves
from tunewright.store.trial import Status, Trial

UNLOGGED = "was never logged"  # in the reason of a trial that failed for nothing else


@dataclass(frozen=True)
class Judged:
    """A trial's status, why, its objective and the step at which that was reached."""

    status: Status
    reason: str = ""
    value: float | None = None
    best_step: int | None = None


def judge(objective: Objective, recorded: Status, reason: str, curves: Curves) -> Judged:
    """Judge a trial that the record has under this status and reason.

    A trial that failed only because its objective was never logged came to its end all the same:
    under an objective that it did log, it is judged like any other.
    """
    unlogged = recorded == "failed" and reason.startswith("the objective ") and UNLOGGED in reason
    if recorded != "completed" and not unlogged:
        return Judged(recorded, reason)
    curve = curves.only(objective.metric)
    if curve is None or not len(curve):
        return Judged("failed", reason or f"the objective {objective.metric} {UNLOGGED}")
    finite = np.isfinite(curve.values)
    if not finite.all():
        at = int(np.argmin(finite))
        return Judged("infeasible", says_non_finite(objective.metric, curve, at))
    if objective.at == "last":
        at = len(curve) - 1
    else:
        at = int(curve.values.argmin() if objective.minimize else curve.values.argmax())
    value, step = float(curve.values[at]), int(curve.steps[at])
    for metric, (relation, limit) in objective.subject_to.items():
        broken = _broken(curves.only(metric), metric, relation, limit, step)
        if broken is not None:
            return broken
    return Judged("completed", "", value, step)


def judged(objective: Objective, trial: Trial) -> Trial:
    """The trial with its status, reason, value and best step under this objective."""
    verdict = judge(objective, trial.status, trial.reason, trial.curves)
    return replace(
        trial,
        status=verdict.status,
        reason=verdict.reason,
        value=verdict.value,
        best_step=verdict.best_step,
    )


def value_at(curve: Curve, step: int) -> float:
    """The value a metric had at a step: the last one logged up to it, else the first one after."""
    place = int(np.searchsorted(curve.steps, step, side="right")) - 1
    return float(curve.values[max(place, 0)])


def says_non_finite(metric: str, curve: Curve, at: int) -> str:
    """The reason of a trial whose metric was not finite at one of its points."""
    value = float(curve.values[at])
    text = "nan" if math.isnan(value) else f"{value:+}"
    return f"{metric} is {text} at step {int(curve.steps[at])}"


def _broken(
    curve: Curve | None, metric: str, relation: str, limit: float, step: int
) -> Judged | None:
    if curve is None or not len(curve):
        return Judged(
            "failed",
            f"{metric} was never logged, so {metric} {relation} {limit:g} cannot be judged",
        )
    value = value_at(curve, step)
    if value <= limit if relation == "<=" else value >= limit:
        return None
    return Judged("infeasible", f"{metric} is {value:g} at step {step}, not {relation} {limit:g}")
