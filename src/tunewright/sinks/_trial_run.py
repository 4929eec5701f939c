"""A trial as trackers receive it: one run with a stable key, settings, curves and a summary."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from sqlalchemy import func, select

from tunewright.checks.checklist import check
from tunewright.design.ranges import Value
from tunewright.finding import VERDICTS, Verdict
from tunewright.store.curves import Curve
from tunewright.store.joined import with_earlier
from tunewright.store.schema import curve, trial as trial_table
from tunewright.store.spool import trial_and_repeat
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Trial

PREFIX = "tunewright."  # of everything in a tracker that the training program did not log
Summary = Mapping[str, str | float]


@dataclass(frozen=True, eq=False)
class TrialRun:
    """One trial or repeat: what a tracker's run of it must hold."""

    key: str  # the same for this trial in every process, and another in every store
    name: str  # depth-3, or depth-3-repeat-1
    round: str
    study: str  # the study's label; empty where the round has one study
    goal: str
    configuration: Mapping[str, Value]
    seed: int
    status: str  # running, completed, infeasible, failed, pruned, unmeasured
    began: float  # seconds since 1970
    ended: float | None  # None while it runs
    curves: Mapping[str, Curve] = field(repr=False)
    summary: Summary  # value, step of the value, seconds, reason, verdicts of the checks

    @property
    def over(self) -> bool:
        """Whether nothing more is logged to it."""
        return self.ended is not None

    @property
    def points(self) -> int:
        """How many values were logged."""
        return sum(len(each) for each in self.curves.values())


class Tracker(Protocol):
    """A tracker that is open for writing; each sink has one."""

    def put(self, run: TrialRun) -> None:
        """Make the tracker's run of this trial equal to `run`.

        Calling it again with the same run changes nothing. Whatever an earlier call left behind
        when it was interrupted is completed or replaced.
        """
        ...

    def close(self) -> None:
        """Flush what was put."""
        ...


def rows(run: TrialRun) -> list[tuple[int, dict[str, float]]]:
    """The points by step, with all metrics of a step together.

    >>> own = Curve(np.array([1, 2]), np.array([0.5, 0.25]))
    >>> made = TrialRun("k", "n", "r", "", "", {}, 0, "completed", 0.0, 1.0, {"loss": own}, {})
    >>> rows(made)
    [(1, {'loss': 0.5}), (2, {'loss': 0.25})]
    """
    by_step: dict[int, dict[str, float]] = {}
    for name, points in run.curves.items():
        for step, value in zip(points.steps.tolist(), points.values.tolist(), strict=True):
            by_step.setdefault(step, {})[name] = value
    return sorted(by_step.items())


def marks(store: Store, record: RoundRecord) -> dict[int, str]:
    """For each trial that began, something that differs once anything about it changed."""
    batches = (
        select(func.count())
        .where(curve.c.trial == trial_table.c.id)
        .correlate(trial_table)
        .scalar_subquery()
    )
    columns = trial_table.c
    chosen = select(columns.id, columns.status, columns.attempt, batches).where(
        columns.round == record.id, columns.attempt > 0, columns.configuration.is_not(None)
    )
    with store.reading() as connection:
        return {
            key: f"{status} {attempt} {count}"
            for key, status, attempt, count in connection.execute(chosen.order_by(columns.id))
        }


def trial_run(store: Store, record: RoundRecord, key: int, verdicts: Summary) -> TrialRun:
    """One trial of the store as trackers receive it; `verdicts` join its summary."""
    trial = store.trial(key)
    attempts = [attempt for attempt in store.attempts(key) if attempt.began is not None]
    began = attempts[0].began if attempts else None
    last = attempts[-1].ended if attempts else None
    start = record.created.timestamp() if began is None else began.timestamp()
    end = start + trial.seconds if last is None else last.timestamp()
    study = record.round.studies[trial.study]
    return TrialRun(
        key=_run_key(store, trial),
        name=run_name(record.name, trial),
        round=record.name,
        study=study.label if len(record.round.studies) > 1 else "",
        goal=str(record.round.goal),
        configuration=dict(trial.configuration),
        seed=trial.seed,
        status=trial.status if trial.ended else "running",
        began=start,
        ended=max(start, end) if trial.ended else None,
        curves=dict(trial.curves),
        summary={**_summary(trial), **(verdicts if trial.ended else {})},
    )


def _run_key(store: Store, trial: Trial) -> str:
    """The key of a trial's run: sixteen hexadecimal digits, of its store and its place there."""
    text = f"{store.identity} {trial.identity}".encode()
    return hashlib.sha256(text).hexdigest()[:16]


def run_name(round: str, trial: Trial) -> str:
    """What a tracker calls the run of a trial."""
    if trial.number is not None:
        return f"{round}-{trial.number}"
    repeat = trial_and_repeat(trial.folder.rpartition("/")[2])[1]
    return f"{round}-{trial.parent}-repeat-{repeat}"


def _summary(trial: Trial) -> dict[str, str | float]:
    summary: dict[str, str | float] = {"status": trial.status if trial.ended else "running"}
    if trial.value is not None:
        summary["value"] = trial.value
    if trial.measured is not None:
        summary["value_sd"] = trial.measured.sd
    if trial.best_step is not None:
        summary["step"] = trial.best_step
    if trial.seconds:
        summary["seconds"] = trial.seconds
    if trial.reason is not None:
        summary["reason"] = trial.reason.code
    if trial.parent is not None:
        summary["repeats"] = trial.parent
    return summary


def verdicts_of(store: Store, name: str) -> Summary:
    """The verdict of each check on a round, as `tunewright check` reads it; the gravest of each."""
    verdicts: dict[str, Verdict] = {}
    for finding in check(with_earlier(store, name)):
        before = verdicts.get(finding.check, finding.verdict)
        verdicts[finding.check] = min(before, finding.verdict, key=VERDICTS.index)
    return {f"check.{name}": verdict for name, verdict in verdicts.items()}


def same_points(first: Curve, second: Curve) -> bool:
    """Whether two curves have the same points; NaN equals NaN."""
    return np.array_equal(first.steps, second.steps) and np.array_equal(
        first.values, second.values, equal_nan=True
    )


def first_points(whole: Curve, count: int) -> Curve:
    """The first points of a curve."""
    return Curve(whole.steps[:count], whole.values[:count])
