"""Is every record of a store what was written? Checksums, kinds of fields, and the trial folders.

SQLite's own check follows the pages of a file but does not read what is in them, and neither kind
of database notices a bit that flips inside a value. Curve batches carry a checksum, which every
reading verifies; here all of them are read. The rows of trials carry none: with `folders` they are
compared with the checked files in the trial folders, which hold the same configuration and end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select, text

from tunewright.errors import Damaged
from tunewright.store import plain_json
from tunewright.store.curves import unpack
from tunewright.store.database import Database, beside
from tunewright.store.read_round import check_row, named
from tunewright.store.schema import round_table, trial
from tunewright.store.spool import TRIAL_FILE, read_result, read_trial
from tunewright.store.trial import ENDED

# as text: a backup is read before its schema is known, and these columns have been in every one
_BATCHES = """
    SELECT curve.points, round.name, trial.number, parent.number FROM curve
    LEFT JOIN trial ON trial.id = curve.trial
    LEFT JOIN trial AS parent ON parent.id = trial.parent
    LEFT JOIN round ON round.id = trial.round
    ORDER BY curve.id
"""
_PAGE = 500  # rows in memory at once


@dataclass(frozen=True)
class Fault:
    """One thing in a store that is not what was written."""

    where: str  # trial 3 of depth
    what: str


def faults(database: Database, folders: bool = False) -> Iterator[Fault]:
    """What is damaged in the trials and curves of a store; `folders` compares trial folders too."""
    with database.reading() as connection:
        rows = connection.execution_options(yield_per=_PAGE).execute(text(_BATCHES))
        yield from _of_batches(tuple(row) for row in rows)
    yield from _of_rows(database, folders)


def curve_faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    """The damaged curve batches of a SQLite file of any schema."""
    return _of_batches(connection.execute(_BATCHES))


def _of_batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[Fault]:
    for points, round, number, parent in rows:
        try:
            if not isinstance(points, bytes):
                raise Damaged("curve.altered")
            unpack(points)
        except Damaged as error:
            yield Fault(named(str(round), number, parent), str(error))


def _of_rows(database: Database, folders: bool) -> Iterator[Fault]:
    with database.reading() as connection:
        rounds = {row.id: row for row in connection.execute(select(round_table))}
        rows = connection.execute(select(trial).order_by(trial.c.id)).all()
    numbers = {row.id: row.number for row in rows}
    for row in rows:
        own = rounds.get(row.round)
        where = named(own.name if own else "?", row.number, numbers.get(row.parent))
        try:
            check_row(row, where)
            settings = plain_json.loads(row.configuration, where) if row.configuration else None
        except Damaged as error:
            yield Fault(where, str(error))
            continue
        root = _root(database, own.folder) if own and folders else None
        if root is not None:
            yield from _beside(root / row.folder, row, settings, where)


def _root(database: Database, folder: str) -> Path | None:
    """The folder of a round's trials, where it can be known."""
    if folder:
        return Path(folder)
    path = database.address.path
    return None if path is None else beside(path, ".trials")


def _beside(
    folder: Path, row: Any, settings: Mapping[str, Any] | None, where: str
) -> Iterator[Fault]:
    """Where a row differs from the checked files of its trial; files that are gone say nothing."""
    try:
        told = read_trial(folder / TRIAL_FILE)
    except (Damaged, OSError):
        return
    if told.trial != row.id:
        return  # of a store that was rebuilt since
    if settings is not None and settings != told.configuration:
        yield Fault(where, f"its configuration differs from the one in {folder / TRIAL_FILE}")
    if row.seed != told.seed:
        yield Fault(where, f"its seed differs from the one in {folder / TRIAL_FILE}")
    file = folder / f"result.{row.attempt}.json"
    try:
        ended_as = read_result(file).outcome.becomes
    except (Damaged, OSError):
        return
    if {row.status, ended_as} <= set(ENDED) and row.status != ended_as:
        yield Fault(where, f"it is {row.status}, and {ended_as} in {file}")
