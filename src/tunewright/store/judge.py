"""What a trial's curves are worth under an objective; constraints are judged here, on reading.

The store holds how the training program ended. Whether that makes a trial the best one depends on
the objective, which may be changed afterwards, so nothing of it is stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tunewright.design.objective import Objective
from tunewright.measured import Measured
from tunewright.messages import Message
from tunewright.store.curves import Curve, Curves
from tunewright.store.outcome import NEVER_LOGGED
from tunewright.store.trial import Status, Trial


@dataclass(frozen=True)
class Judged:
    """A trial's status, why, its objective and the step at which that was reached."""

    status: Status
    reason: Message | None = None
    value: float | None = None
    best_step: int | None = None
    measured: Measured | None = None  # the value with its uncertainty, where that was logged


def judge(objective: Objective, recorded: Status, reason: Message | None, curves: Curves) -> Judged:
    """Judge a trial that the store has under this status and reason.

    A trial that failed only because its objective was never logged came to its end all the same:
    under an objective that it did log, it is judged like any other.
    """
    unlogged = recorded == "failed" and reason is not None and reason.code == NEVER_LOGGED
    if recorded != "completed" and not unlogged:
        return Judged(recorded, reason)
    curve = curves.only(objective.metric)
    if curve is None or not len(curve):
        if recorded == "completed":  # by another metric: nothing failed
            return Judged("unmeasured", Message("trial.unmeasured", {"metric": objective.metric}))
        return Judged("failed", reason)
    finite = np.isfinite(curve.values)
    if not finite.all():
        at = int(np.argmin(finite))
        value, step = float(curve.values[at]), int(curve.steps[at])
        return Judged("infeasible", not_finite(objective.metric, value, step))
    if objective.at == "last":
        at = len(curve) - 1
    else:
        at = int(curve.values.argmin() if objective.minimize else curve.values.argmax())
    value, step = float(curve.values[at]), int(curve.steps[at])
    for metric, (relation, limit) in objective.subject_to.items():
        broken = _broken(curves.only(metric), metric, relation, limit, step)
        if broken is not None:
            return broken
    return Judged("completed", None, value, step, curve.measurement(at))


def judge_trial(objective: Objective, trial: Trial) -> Trial:
    """The trial with its status, reason, value and best step under this objective."""
    verdict = judge(objective, trial.status, trial.reason, trial.curves)
    return replace(
        trial,
        status=verdict.status,
        reason=verdict.reason,
        value=verdict.value,
        best_step=verdict.best_step,
        measured=verdict.measured,
    )


def value_at(curve: Curve, step: int) -> float:
    """The value a metric had at a step: the last one logged up to it, else the first one after."""
    place = int(np.searchsorted(curve.steps, step, side="right")) - 1
    return float(curve.values[max(place, 0)])


def not_finite(metric: str, value: float, step: int) -> Message:
    """The reason of a trial that diverged.

    >>> str(not_finite("valid_error", float("nan"), 40))
    'valid_error is nan at step 40'
    """
    text = "nan" if math.isnan(value) else f"{value:+}"  # JSON has no such numbers
    return Message("metric.not_finite", {"metric": metric, "value": text, "step": int(step)})


def _broken(
    curve: Curve | None, metric: str, relation: str, limit: float, step: int
) -> Judged | None:
    facts = {"metric": metric, "relation": relation, "limit": float(limit)}
    if curve is None or not len(curve):
        return Judged("failed", Message("constraint.never_logged", facts))
    value = value_at(curve, step)
    if value <= limit if relation == "<=" else value >= limit:
        return None
    broken = Message("constraint.broken", {**facts, "value": value, "step": step})
    return Judged("infeasible", broken)
