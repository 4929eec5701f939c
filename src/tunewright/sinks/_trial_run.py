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
from tunewright.finding import Verdict
from tunewright.store.curves import Curve
from tunewright.store.joined import with_earlier
from tunewright.store.schema import curve, trial as trial_table
from tunewright.store.spool import numbered
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Trial

PREFIX = "tunewright."  # of everything in a tracker that the training program did not log
_WORST_FIRST: tuple[Verdict, ...] = ("warn", "note", "ok", "cannot_judge")
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
        return sum(len(one) for one in self.curves.values())


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
    found: dict[int, dict[str, float]] = {}
    for name, own in run.curves.items():
        for step, value in zip(own.steps.tolist(), own.values.tolist(), strict=True):
            found.setdefault(step, {})[name] = value
    return sorted(found.items())


def marks(store: Store, record: RoundRecord) -> dict[int, str]:
    """For each trial that began, something that differs once anything about it changed."""
    batches = (
        select(func.count())
        .where(curve.c.trial == trial_table.c.id)
        .correlate(trial_table)
        .scalar_subquery()
    )
    own = trial_table.c
    chosen = select(own.id, own.status, own.attempt, batches).where(
        own.round == record.id, own.attempt > 0, own.configuration.is_not(None)
    )
    with store.reading() as connection:
        return {
            key: f"{status} {attempt} {count}"
            for key, status, attempt, count in connection.execute(chosen.order_by(own.id))
        }


def trial_run(store: Store, record: RoundRecord, key: int, verdicts: Summary) -> TrialRun:
    """One trial of the store as trackers receive it; `verdicts` join its summary."""
    own = store.trial(key)
    attempts = [attempt for attempt in store.attempts(key) if attempt.began is not None]
    began = attempts[0].began if attempts else None
    last = attempts[-1].ended if attempts else None
    start = record.created.timestamp() if began is None else began.timestamp()
    end = start + own.seconds if last is None else last.timestamp()
    study = record.round.studies[own.study]
    return TrialRun(
        key=_run_key(store, own),
        name=run_name(record.name, own),
        round=record.name,
        study=study.label if len(record.round.studies) > 1 else "",
        goal=str(record.round.goal),
        configuration=dict(own.configuration),
        seed=own.seed,
        status=own.status if own.ended else "running",
        began=start,
        ended=max(start, end) if own.ended else None,
        curves=dict(own.curves),
        summary={**_summary(own), **(verdicts if own.ended else {})},
    )


def _run_key(store: Store, trial: Trial) -> str:
    """The key of a trial's run: sixteen hexadecimal digits, of its store and its place there."""
    text = f"{store.identity} {trial.identity}".encode()
    return hashlib.sha256(text).hexdigest()[:16]


def run_name(round: str, trial: Trial) -> str:
    """What a tracker calls the run of a trial."""
    if trial.number is not None:
        return f"{round}-{trial.number}"
    repeat = numbered(trial.folder.rpartition("/")[2])[1]
    return f"{round}-{trial.parent}-repeat-{repeat}"


def _summary(own: Trial) -> dict[str, str | float]:
    found: dict[str, str | float] = {"status": own.status if own.ended else "running"}
    if own.value is not None:
        found["value"] = own.value
    if own.measured is not None:
        found["value_sd"] = own.measured.sd
    if own.best_step is not None:
        found["step"] = own.best_step
    if own.seconds:
        found["seconds"] = own.seconds
    if own.reason is not None:
        found["reason"] = own.reason.code
    if own.parent is not None:
        found["repeats"] = own.parent
    return found


def verdicts_of(store: Store, name: str) -> Summary:
    """The verdict of each check on a round, as `tunewright check` reads it; the gravest of each."""
    found: dict[str, Verdict] = {}
    for finding in check(with_earlier(store, name)):
        before = found.get(finding.check, finding.verdict)
        found[finding.check] = min(before, finding.verdict, key=_WORST_FIRST.index)
    return {f"check.{name}": verdict for name, verdict in found.items()}


def same_points(one: Curve, other: Curve) -> bool:
    """Whether two curves have the same points; NaN equals NaN."""
    return np.array_equal(one.steps, other.steps) and np.array_equal(
        one.values, other.values, equal_nan=True
    )


def first_points(own: Curve, count: int) -> Curve:
    """The first points of a curve."""
    return Curve(own.steps[:count], own.values[:count])
