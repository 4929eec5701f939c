"""How an attempt ends a trial: completed, infeasible, failed, or due for another attempt.

A pure function of what the executor reported, what was logged, and how often the trial died before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.store.curves import unpack
from tunewright.store.judge import not_finite
from tunewright.store.outcome import NEVER_LOGGED, Outcome

_MOST_NAMES = 8  # of logged metrics in a reason
DEATHS = 3  # a trial that died this often has failed


@dataclass(frozen=True)
class Seen:
    """What one trial has logged so far, as far as its ending depends on it."""

    metrics: tuple[str, ...] = ()  # in the order they were first logged
    diverged: Message | None = None  # the first non-finite objective or loss
    step: int | None = None  # the last one logged

    def adding(self, points: bytes, watched: Iterable[str]) -> Seen:
        """With one more batch of points; `watched` names the metrics that must stay finite."""
        curves = unpack(points)
        fresh = tuple(name for name in curves if name not in self.metrics and len(curves[name]))
        diverged = self.diverged
        for name in watched:
            if diverged is None and name in curves:
                bad = np.flatnonzero(~np.isfinite(curves[name].values))
                if len(bad):
                    curve, at = curves[name], int(bad[0])
                    diverged = not_finite(name, float(curve.values[at]), int(curve.steps[at]))
        last = [int(curve.steps[-1]) for curve in curves.values() if len(curve)]
        step = max(last, default=self.step)
        if not fresh and diverged == self.diverged and step == self.step:
            return self
        return replace(self, metrics=self.metrics + fresh, diverged=diverged, step=step)


def metrics_to_watch(objective: Objective, meaning: Meaning) -> tuple[str, ...]:
    """The metrics that must stay finite: the objective and the losses."""
    names = (objective.metric, meaning.name("train_loss"), meaning.name("valid_loss"))
    return tuple(dict.fromkeys(names))


def conclude(ended: Outcome, seen: Seen, objective: Objective, deaths: int) -> Outcome:
    """What the end of an attempt makes of its trial; `deaths` counts earlier attempts that died.

    A non-finite objective or loss makes it infeasible however the program ended afterwards: to run
    it again would only waste the time once more.
    """
    if ended.status == "infeasible" or seen.diverged:
        given = ended.reason if ended.status == "infeasible" else None
        reason = given or seen.diverged or Message("trial.infeasible", {"text": ""})
        return replace(ended, status="infeasible", reason=reason)
    if ended.status == "died" and space_needed_mb(ended) is not None:
        return replace(ended, status="stopped")  # waits for space, however often
    if ended.status == "died":
        return _death(ended, deaths + 1)
    if ended.status == "stopped":
        return replace(ended, reason=ended.reason or Message("stopped.asked"))
    if ended.status == "failed":
        return replace(ended, reason=ended.reason or Message("trial.failed", {"text": ""}))
    if objective.metric not in seen.metrics:
        reason = never_logged(objective.metric, seen.metrics)
        return replace(ended, status="failed", reason=reason)
    return replace(ended, reason=None, detail="")


def space_needed_mb(ended: Outcome) -> float | None:
    """How much space the snapshot takes that did not fit on the disk and so ended an attempt."""
    if ended.reason is None or ended.reason.code != "disk.full":
        return None
    needed = ended.reason.facts.get("needed_mb")
    return float(needed) if isinstance(needed, int | float) else None


def never_logged(metric: str, logged: Iterable[str]) -> Message:
    """The reason of a trial that ended without its objective, with the nearest name it logged.

    >>> print(never_logged("valid_error", ["loss", "valid_eror"]))
    the objective valid_error was never logged, only loss, valid_eror. Did you mean valid_eror?
    """
    names = list(logged)
    facts = {
        "metric": metric,
        "logged": names[:_MOST_NAMES],
        "more": len(names) > _MOST_NAMES,
        "near": nearest(metric, names),
    }
    return Message(NEVER_LOGGED, facts)


def _death(ended: Outcome, deaths: int) -> Outcome:
    cause = ended.reason or Message("trial.died")
    if deaths < DEATHS:
        return replace(ended, reason=cause)
    facts = {"deaths": deaths, "cause": cause.to_data()}
    return replace(ended, status="failed", reason=Message("trial.died_repeatedly", facts))
