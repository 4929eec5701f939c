"""Recovery: results that reached the trial folder but not the store are taken over, once.

A result counts if it is of the trial's newest attempt and nobody alive runs that attempt. Taking it
over twice changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tunewright.errors import Damaged
from tunewright.store import plain_json, summary
from tunewright.store.database import Database
from tunewright.store.reason import encode
from tunewright.store.rounds import inside
from tunewright.store.schema import attempt, curve, trial, worker
from tunewright.store.spool import (
    TRIAL_FILE,
    SpooledResult,
    SpooledTrial,
    read_trial,
    results_in,
)
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import ENDED, Status

UNKNOWN = 0  # the owner of an attempt that the record has forgotten


@dataclass(frozen=True)
class Imported:
    """A result taken over from a trial folder."""

    trial: int
    number: int | None
    attempt: int
    status: Status


def import_spool(
    database: Database, round_id: int, root: Path, only: Collection[int] | None = None
) -> list[Imported]:
    """Take over the results of a round's trial folders; with `only`, of these trials."""
    chosen = select(
        trial.c.id,
        trial.c.number,
        trial.c.folder,
        trial.c.attempt,
        trial.c.configuration,
        trial.c.study,
        trial.c.position,
        trial.c.seed,
    ).where(trial.c.round == round_id, _unowned())
    with database.reading() as connection:
        rows = connection.execute(chosen).all()
    taken: list[Imported] = []
    for row in rows:
        if only is not None and row.id not in only:
            continue
        folder = inside(root, row.folder)
        begun = _begun(folder, row)
        tried = begun if row.configuration is None else None
        keys = {row.id} if begun is None else {row.id, begun.trial}
        for result in results_in(folder):
            # later attempts than the record knows: it was restored from a backup since
            if result.trial not in keys or result.attempt < row.attempt:
                continue
            result = replace(result, trial=row.id)
            if row.configuration is None and tried is None:
                continue  # nobody knows what gave this result
            with database.writing() as connection:
                _know_attempts(connection, row.id, result.attempt, tried)
                if _take_over(database, connection, result):
                    taken.append(Imported(row.id, row.number, result.attempt, result.status))
        if begun is not None and begun.attempt > row.attempt:
            # begun, and forgotten with the machine: its number must not be given out again
            with database.writing() as connection:
                _know_attempts(connection, row.id, begun.attempt, tried)
    return taken


def _begun(folder: Path, row: Any) -> SpooledTrial | None:
    """What was tried here last, if its file can be read and is about this trial.

    Its key may be another one: a row that a restored store lacked is made again under a new key.
    """
    try:
        begun = read_trial(folder / TRIAL_FILE)
    except (Damaged, OSError):
        return None
    own = (row.number, row.study, row.position, row.seed)
    alike = begun.repeat is None and own == (begun.number, begun.study, begun.index, begun.seed)
    return begun if alike or begun.trial == row.id else None


def _unowned() -> ColumnElement[bool]:
    """Nobody alive runs the trial."""
    retired = select(worker.c.id).where(worker.c.retired.is_not(None))
    lost = (trial.c.status == "running") & trial.c.worker.in_(retired)
    return or_(trial.c.status == "pending", lost)


def _know_attempts(
    connection: Connection, key: int, newest: int, tried: SpooledTrial | None
) -> None:
    """Add what the record lacks: attempts after a backup, a configuration that was not flushed."""
    current = select(trial.c.attempt).where(trial.c.id == key, _unowned()).with_for_update()
    known = connection.execute(current).scalar()
    if known is None or (newest <= known and tried is None):
        return
    change: dict[str, Any] = {"attempt": max(known, newest)}
    forgotten = [
        {"trial": key, "n": n, "worker": UNKNOWN, "outcome": "lost"}
        for n in range(known + 1, newest + 1)
    ]
    if forgotten:
        connection.execute(insert(attempt), forgotten)
    if tried is not None:
        change |= {
            "configuration": plain_json.dumps(dict(tried.configuration)),
            "unit": plain_json.dumps(dict(tried.unit)),
        }
    connection.execute(update(trial).where(trial.c.id == key).values(change))


def _take_over(database: Database, connection: Connection, result: SpooledResult) -> bool:
    """Write one result, unless the attempt's end is known already or somebody runs it again."""
    end_unknown = (
        (attempt.c.trial == result.trial)
        & (attempt.c.n == result.attempt)
        & attempt.c.outcome.in_(("", "lost"))
    )
    change = (
        update(trial)
        .where(
            trial.c.id == result.trial,
            trial.c.attempt == result.attempt,
            _unowned(),
            select(attempt.c.id).where(end_unknown).exists(),
        )
        .values(
            status=result.status,
            reason=encode(result.reason),
            detail=storable(result.detail, LONGEST_TEXT),
            seconds=trial.c.seconds + result.seconds,
            peak_memory_mb=result.peak_memory_mb,
            deaths=trial.c.deaths + int(result.died and result.status == "pending"),
        )
    )
    if connection.execute(change).rowcount != 1:
        return False
    connection.execute(
        update(attempt)
        .where(end_unknown)
        .values(
            outcome=_outcome(result),
            cause=encode(result.reason),
            seconds=result.seconds,
            start_step=result.start_step,
            ended=time.time(),
        )
    )
    keep_batches(database, connection, result)
    if result.status in ENDED and summary.is_long(result.batches, result.first):
        summary.write(connection, result.trial)
    return True


def keep_batches(database: Database, connection: Connection, result: SpooledResult) -> None:
    """Add a result's batches; those the store has already are passed over."""
    if not result.batches:
        return
    dialect: Any = sqlite if database.sqlite else postgresql
    connection.execute(
        dialect.insert(curve).on_conflict_do_nothing(),
        [
            {
                "trial": result.trial,
                "attempt": result.attempt,
                "sequence": result.first + place,
                "points": points,
            }
            for place, points in enumerate(result.batches)
        ],
    )


def _outcome(result: SpooledResult) -> str:
    if result.status in ENDED:
        return result.status
    return "died" if result.died else "stopped"
