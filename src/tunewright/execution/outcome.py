"""How an attempt ends a trial: completed, infeasible, failed, or due for another attempt.

A pure function of what the executor told, what was logged, and how often the trial died before.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.execution.executors.executor import Ended
from tunewright.store.curves import unpack
from tunewright.store.trial import Status

DEATHS = 3  # a trial that died this often has failed


@dataclass(frozen=True)
class Seen:
    """What one trial has logged so far, as far as its ending depends on it."""

    metrics: tuple[str, ...] = ()  # in the order they were first logged
    diverged: str = ""  # the first non-finite objective or loss, in words

    def adding(self, points: bytes, watched: Iterable[str]) -> Seen:
        """With one more batch of points; `watched` names the metrics that must stay finite."""
        curves = unpack(points)
        fresh = tuple(name for name in curves if name not in self.metrics and len(curves[name]))
        diverged = self.diverged
        for name in watched:
            if not diverged and name in curves:
                bad = np.flatnonzero(~np.isfinite(curves[name].values))
                if len(bad):
                    curve, at = curves[name], int(bad[0])
                    diverged = non_finite(name, float(curve.values[at]), int(curve.steps[at]))
        if not fresh and diverged == self.diverged:
            return self
        return replace(self, metrics=self.metrics + fresh, diverged=diverged)


@dataclass(frozen=True)
class Verdict:
    """The trial's status after an attempt; `pending` when another attempt is due."""

    status: Status
    reason: str = ""
    detail: str = ""  # traceback or the tail of the log
    died: bool = False  # counts towards the three deaths that make a trial failed


def watched_metrics(objective: Objective, meaning: Meaning) -> tuple[str, ...]:
    """The metrics that must stay finite: the objective and the losses."""
    names = (objective.metric, meaning.name("train_loss"), meaning.name("valid_loss"))
    return tuple(dict.fromkeys(names))


def non_finite(name: str, value: float, step: int) -> str:
    """The reason of a diverged trial.

    >>> non_finite("valid_error", float("nan"), 40)
    'valid_error is nan at step 40'
    """
    text = "nan" if math.isnan(value) else f"{value:+}"
    return f"{name} is {text} at step {step}"


def conclude(ended: Ended, seen: Seen, objective: Objective, deaths: int) -> Verdict:
    """What the end of an attempt makes of its trial; `deaths` counts earlier attempts that died.

    A non-finite objective or loss makes it infeasible however the program ended afterwards: to run
    it again would only waste the time once more.
    """
    if ended.outcome == "infeasible" or seen.diverged:
        said = ended.cause if ended.outcome == "infeasible" else ""
        reason = said or seen.diverged or "infeasible, without a reason given"
        return Verdict("infeasible", reason, ended.detail)
    if ended.outcome == "died":
        return _death(ended, deaths + 1)
    if ended.outcome == "stopped":
        return Verdict("pending", ended.cause or "asked to stop", ended.detail)
    if ended.outcome == "failed":
        return Verdict("failed", ended.cause or "failed, without a reason given", ended.detail)
    if objective.metric not in seen.metrics:
        return Verdict("failed", never_logged(objective.metric, seen.metrics), ended.detail)
    return Verdict("completed")


def never_logged(metric: str, logged: Iterable[str]) -> str:
    """The reason of a trial that ended without its objective, with the nearest name it logged.

    >>> print(never_logged("valid_error", ["loss", "valid_eror"]))
    the objective valid_error was never logged, only loss, valid_eror. Did you mean valid_eror?
    """
    names = list(logged)
    if not names:
        return (
            f"the objective {metric} was never logged, nor anything else: "
            f'call run.log(step, {{"{metric}": ...}}), or print one JSON object per measurement'
        )
    near = difflib.get_close_matches(metric, names, n=1)
    remedy = f"Did you mean {near[0]}?" if near else f"Log {metric}, or change the objective."
    shown = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
    return f"the objective {metric} was never logged, only {shown}. {remedy}"


def _death(ended: Ended, deaths: int) -> Verdict:
    cause = ended.cause or "died, without a reason given"
    if deaths < DEATHS:
        return Verdict("pending", cause, ended.detail, died=True)
    return Verdict("failed", f"died {deaths} times, at last: {cause}", ended.detail, died=True)
