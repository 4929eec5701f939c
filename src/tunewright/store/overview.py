"""Rounds in columns, without curves: the tracking table, and a page of thousands of trials.

    overview = read_overview(store, "depth")
    overview.values[overview.numbers == 7]

Ten thousand trials are a few hundred kilobytes here; the same trials with their curves are
gigabytes.

The playbook's columns: name, link to the configuration, notes, number of trials, performance of the
best checkpoint, and the command that reproduces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlalchemy import func, select

from tunewright.actions import RunTrials
from tunewright.design.round import full_question
from tunewright.messages import Message, Text
from tunewright.store import fenced_writes, plain_json
from tunewright.store.results import Results
from tunewright.store.rounds import ASK_AND_TELL, RoundRecord
from tunewright.store.schema import curve_summary, round_table, trial
from tunewright.store.spool import ROUND_FILE
from tunewright.store.store import Store
from tunewright.store.trial import Status, Trial

STATUSES: tuple[Status, ...] = (
    "pending",
    "running",
    "completed",
    "infeasible",
    "failed",
    "pruned",
    "unmeasured",
)
INACTIVE = 65_535  # the position of a hyperparameter that a trial does not have
_SAMPLED = 200  # trials that are looked at for the names of metrics
_SCALE = 65_534  # positions 0 to this one cover the unit interval


@dataclass(frozen=True, eq=False)
class Overview:
    """Every trial of a round by number, repeats left out; one array per column."""

    record: RoundRecord
    keys: npt.NDArray[np.int64]  # the store's own
    numbers: npt.NDArray[np.int64]
    studies: npt.NDArray[np.int64]
    statuses: npt.NDArray[np.uint8]  # places in STATUSES, judged by the objective
    values: npt.NDArray[np.float64]  # NaN without one
    steps: npt.NDArray[np.int64]  # of the value; -1 without one
    seconds: npt.NDArray[np.float64]
    columns: tuple[str, ...]  # searched hyperparameters, in the order of the round
    positions: npt.NDArray[np.uint16]  # trials x columns, on the scale that is searched
    repeats: int  # how many ended

    def __len__(self) -> int:
        """How many trials there are."""
        return len(self.numbers)

    def best(self, count: int) -> npt.NDArray[np.int64]:
        """Rows of the best completed trials, best first; of equal ones the lowest number."""
        completed = np.flatnonzero(self.statuses == STATUSES.index("completed"))
        order = np.lexsort(
            (self.numbers[completed], -self.record.objective.sign * self.values[completed])
        )
        return completed[order][:count]


def read_overview(store: Store, name: str, only: Iterable[int] | None = None) -> Overview:
    """The columns of a round; `only` limits it to trials with these keys of the store."""
    record = store.round(name)
    chosen = select(
        trial.c.id, trial.c.number, trial.c.study, trial.c.status, trial.c.seconds, trial.c.unit
    ).where(trial.c.round == record.id, trial.c.number.is_not(None))
    wanted = None if only is None else set(only)
    if wanted is not None and len(wanted) <= fenced_writes.AT_ONCE:
        chosen = chosen.where(trial.c.id.in_(sorted(wanted)))
    with store.reading() as connection:
        rows = connection.execute(chosen.order_by(trial.c.number)).all()
        if wanted is not None:
            rows = [row for row in rows if row.id in wanted]
        keys = {row.id for row in rows}
        judged = {
            row.key: row
            for row in fenced_writes.judge_rows(connection, record.id, record.objective, keys)
        }
        ended_repeats = select(func.count()).where(
            trial.c.round == record.id,
            trial.c.number.is_(None),
            trial.c.status.not_in(("pending", "running")),
        )
        repeats = connection.execute(ended_repeats).scalar_one()
    columns = tuple(dict.fromkeys(h.column for study in record.round.studies for h in study.space))
    waiting = _waiting(record, wanted)
    size = len(rows) + len(waiting)
    overview = Overview(
        record=record,
        keys=np.append(np.array([row.id for row in rows], np.int64), -1 - waiting),
        numbers=np.append(np.array([row.number for row in rows], np.int64), waiting),
        studies=np.append(
            np.array([row.study for row in rows], np.int64), waiting % len(record.round.studies)
        ),
        statuses=np.full(size, STATUSES.index("pending"), np.uint8),
        values=np.full(size, np.nan),
        steps=np.full(size, -1, np.int64),
        seconds=np.append(
            np.array([row.seconds for row in rows], np.float64), np.zeros(len(waiting))
        ),
        columns=columns,
        positions=np.full((size, len(columns)), INACTIVE, np.uint16),
        repeats=repeats,
    )
    place = {column: at for at, column in enumerate(columns)}
    for at, row in enumerate(rows):
        known = judged.get(row.id)
        overview.statuses[at] = STATUSES.index(row.status if known is None else known.status)
        if known is not None and known.value is not None:
            overview.values[at] = known.value
            overview.steps[at] = -1 if known.step is None else known.step
        for column, unit in _unit(row.unit, f"trial {row.number} of {name}").items():
            if column in place:
                overview.positions[at, place[column]] = round(min(max(unit, 0.0), 1.0) * _SCALE)
    return overview


def _waiting(record: RoundRecord, wanted: set[int] | None) -> npt.NDArray[np.int64]:
    """The numbers of declared trials that have no row yet; none where some keys are wanted."""
    if record.made is None or wanted is not None:
        return np.empty(0, np.int64)
    studies = len(record.round.studies)
    first, end = record.made * studies, record.round.trials_per_study * studies
    return np.arange(first, end, dtype=np.int64)


def round_key(store: Store, name: str) -> int:
    """The key of a round, without counting its trials; NotFound where there is none."""
    with store.reading() as connection:
        chosen = select(round_table.c.id).where(round_table.c.name == name)
        key = connection.execute(chosen).scalar()
    return store.round(name).id if key is None else int(key)


def states(store: Store, round_id: int) -> dict[int, tuple[str, int, float]]:
    """What each trial and repeat of a round is at: its status, attempt and seconds, by its key."""
    chosen = select(trial.c.id, trial.c.status, trial.c.attempt, trial.c.seconds)
    with store.reading() as connection:
        rows = connection.execute(chosen.where(trial.c.round == round_id))
        return {key: (status, n, seconds) for key, status, n, seconds in rows}


def stamps(store: Store) -> dict[int, tuple[int, int, float]]:
    """For every round something that differs once one of its trials ended or began, by its key."""
    columns = (func.count(), func.sum(trial.c.attempt), func.sum(trial.c.seconds))
    ended = trial.c.status.not_in(("pending", "running"))
    with store.reading() as connection:
        rows = connection.execute(
            select(trial.c.round, *columns).where(ended).group_by(trial.c.round)
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}


@dataclass(frozen=True)
class Best:
    """The best completed trial of a round."""

    number: int
    value: float


def best_of(store: Store, record: RoundRecord) -> Best | None:
    """The best completed trial, of equal ones the lowest number; None where none completed."""
    sign = record.objective.sign
    numbered = select(trial.c.id, trial.c.number).where(
        trial.c.round == record.id, trial.c.number.is_not(None)
    )
    with store.reading() as connection:
        numbers = {row.id: row.number for row in connection.execute(numbered)}
        completed = (
            Best(numbers[row.key], row.value)
            for row in fenced_writes.judge_rows(connection, record.id, record.objective)
            if row.status == "completed" and row.value is not None and row.key in numbers
        )
        return min(completed, key=lambda best: (-sign * best.value, best.number), default=None)


def metrics_of(store: Store, round_id: int) -> tuple[str, ...]:
    """The metrics that the round's trials logged, as far as its first 200 ended ones show."""
    ended = trial.c.status.not_in(("pending",))
    chosen = select(trial.c.id).where(trial.c.round == round_id, ended).order_by(trial.c.id)
    with store.reading() as connection:
        keys = list(connection.execute(chosen.limit(_SAMPLED)).scalars())
        long = select(curve_summary.c.metric).where(curve_summary.c.trial.in_(keys)).distinct()
        metrics = dict.fromkeys(connection.execute(long).scalars())
        for _, curves in fenced_writes.curves_of(connection, round_id, keys[:20]):
            metrics |= dict.fromkeys(curves)
    return tuple(metrics)


def buckets(
    store: Store, round_id: int, metric: str, only: Iterable[int] | None = None
) -> Iterator[tuple[int, fenced_writes.Buckets]]:
    """One metric of the round's trials, reduced to buckets, by the trial's key."""
    with store.reading() as connection:
        yield from fenced_writes.buckets_of(connection, round_id, metric, only)


def _unit(text: str | None, where: str) -> Mapping[str, float]:
    """The position of a trial; empty where an adaptive search has not filled it yet."""
    if not text:
        return {}
    unit = plain_json.loads(text, where)
    if not isinstance(unit, dict):
        return {}
    return {k: v for k, v in unit.items() if isinstance(v, int | float)}


@dataclass(frozen=True)
class Tracked:
    """One line of the tracking table."""

    name: str
    goal: str | Message  # a message in a generated round
    change: Message | None  # what it changes about the round that it follows
    created: datetime
    definition: str  # the file that holds the round as it was run
    counts: Mapping[Status, int]
    trials: int
    objective: str
    best: Trial | None  # the best completed trial
    checkpoint: str  # the best trial's snapshot nearest to its best step, if still on the disk
    note: str | Message  # the newest
    command: str  # trains the best trial again, or continues the round
    campaign: str = ""  # the campaign that it belongs to
    purpose: str = ""  # `probe`, or the kind of step it is in its campaign

    @property
    def asks(self) -> Text:
        """The goal with the change, as readers see it."""
        return full_question(self.goal, self.change)


def tracking_table(store: Store) -> list[Tracked]:
    """One line per round of a store, oldest first."""
    return [tracking_line(store, record) for record in store.rounds()]


def tracking_line(store: Store, record: RoundRecord) -> Tracked:
    """The line of one round."""
    results = store.results(record.name)
    top = results.top(1)
    best = top[0] if top else None
    definition = Path(results.root, record.directory, ROUND_FILE) if results.root else None
    return Tracked(
        name=record.name,
        goal=record.round.goal,
        change=record.round.change,
        created=record.created,
        definition=str(definition) if definition is not None and definition.exists() else "",
        counts=results.counts,
        trials=results.size,
        objective=str(results.objective),
        best=best,
        checkpoint=_checkpoint(store, results, best),
        note=results.notes[-1] if results.notes else "",
        command=_command(record, results, best),
        campaign=record.campaign,
        purpose=record.purpose,
    )


def _command(record: RoundRecord, results: Results, best: Trial | None) -> str:
    """The command that trains the best trial again, or continues the round."""
    if results.imported or record.command == ASK_AND_TELL:
        return record.command if best is None else best.command
    return RunTrials(record.name).command if best is None else best.command


def _checkpoint(store: Store, results: Results, best: Trial | None) -> str:
    if best is None or best.best_step is None or not results.root:
        return ""
    folder = Path(results.root, best.folder)
    there = [s for s in store.snapshots(best.identity) if (folder / s.path).exists()]
    if not there:
        return ""
    # of snapshots equally near, the later one: it was written last and is the surest to be whole
    step = best.best_step
    nearest = min(there, key=lambda s: (abs(s.step - step), -s.step))
    return str(folder / nearest.path)
