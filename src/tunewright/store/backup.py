"""Backups of a SQLite store, and the examination of every record of a store.

Backups are made while the store is in use, checked when written, and three are kept. PostgreSQL has
its own (`pg_dump`, or the server's administrator).

SQLite's own check follows the pages of a file but does not read what is in them, and neither kind
of database notices a bit that flips inside a value. Curve batches carry a checksum, which every
reading verifies; here all of them are read. The rows of trials carry none: with `folders` they are
compared with the checked files in the trial folders, which hold the same configuration and end.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select, text

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.snapshot import flush
from tunewright.store import plain_json
from tunewright.store.curves import unpack
from tunewright.store.database import RESERVE_MB, Database, beside, make_file, make_folder
from tunewright.store.read_round import check_row, trial_name
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
KEPT = 3
EVERY_S = 600.0
_STAMP = "%Y%m%dT%H%M%S.%fZ"


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


def _of_batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[Fault]:
    for points, round, number, parent in rows:
        try:
            if not isinstance(points, bytes):
                raise Damaged("curve.altered")
            unpack(points)
        except Damaged as error:
            yield Fault(trial_name(str(round), number, parent), str(error))


def _of_rows(database: Database, folders: bool) -> Iterator[Fault]:
    with database.reading() as connection:
        rounds = {row.id: row for row in connection.execute(select(round_table))}
        rows = connection.execute(select(trial).order_by(trial.c.id)).all()
    numbers = {row.id: row.number for row in rows}
    for row in rows:
        round = rounds.get(row.round)
        where = trial_name(round.name if round else "?", row.number, numbers.get(row.parent))
        try:
            check_row(row, where)
            settings = plain_json.loads(row.configuration, where) if row.configuration else None
        except Damaged as error:
            yield Fault(where, str(error))
            continue
        root = database.root_of(round.folder) if round and folders else None
        if root is not None:
            yield from _beside(root / row.folder, row, settings, where)


def _beside(
    folder: Path, row: Any, settings: Mapping[str, Any] | None, where: str
) -> Iterator[Fault]:
    """Where a row differs from the checked files of its trial; files that are gone say nothing."""
    try:
        claim = read_trial(folder / TRIAL_FILE)
    except (Damaged, OSError):
        return
    if claim.trial != row.id:
        return  # of a store that was rebuilt since
    if settings is not None and settings != claim.configuration:
        yield Fault(where, f"its configuration differs from the one in {folder / TRIAL_FILE}")
    if row.seed != claim.seed:
        yield Fault(where, f"its seed differs from the one in {folder / TRIAL_FILE}")
    file = folder / f"result.{row.attempt}.json"
    try:
        ended_as = read_result(file).outcome.becomes
    except (Damaged, OSError):
        return
    if {row.status, ended_as} <= set(ENDED) and row.status != ended_as:
        yield Fault(where, f"it is {row.status}, and {ended_as} in {file}")


def folder_of(path: Path) -> Path:
    """Where the backups of a store stand."""
    return beside(path, ".backups")


def backups(path: Path) -> list[Path]:
    """The backups of a store, oldest first."""
    return sorted(folder_of(path).glob("*.db"))


def newest(path: Path) -> Path | None:
    """The newest backup of a store, if it has one."""
    kept = backups(path)
    return kept[-1] if kept else None


def due(path: Path) -> bool:
    """Whether the newest backup is older than ten minutes, or there is none."""
    last = newest(path)
    try:
        return last is None or not 0 <= time.time() - last.stat().st_mtime < EVERY_S
    except FileNotFoundError:  # dropped by another process, which has just made a newer one
        return False


def make(path: Path) -> Path:
    """Write a backup of a store that may be in use, check it, and drop all but the newest three."""
    folder = folder_of(path)
    try:
        make_folder(folder)
        target = copy_to(folder / f"{_stamp(newest(path))}.db", path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError("backup.not_written", path=path, error=error) from error
    for old in backups(path)[:-KEPT]:
        old.unlink(missing_ok=True)
    return target


def copy_to(target: Path, path: Path, version: int | None = None) -> Path:
    """Copy a store that may be in use, whole and checked; with `version`, only one of that schema.

    A copy that cannot be made leaves what was there.
    """
    free_mb = shutil.disk_usage(path.parent).free / 2**20
    if free_mb < path.stat().st_size / 2**20 + RESERVE_MB:
        raise StoreError("backup.no_space", path=path, free_mb=free_mb)
    unfinished = target.with_suffix(f".{os.getpid()}.tmp")
    existing = f"{path.absolute().as_uri()}?mode=rw"  # never an empty one made by this very look
    try:
        make_file(unfinished)
        with (
            closing(sqlite3.connect(existing, uri=True)) as source,
            closing(sqlite3.connect(unfinished)) as copy,
        ):
            source.backup(copy)
            # one plain file: it must open without neighbours, on a read-only disk too
            copy.execute("PRAGMA journal_mode = DELETE")
            check(copy, path)
            about = dict(copy.execute("SELECT key, value FROM about"))
            if "identity" not in about:
                raise Damaged("backup.store_not_whole", path=path)
        if version is not None and about.get("schema") != str(version):
            return target  # another process has migrated it meanwhile, after its own backup
        flush(unfinished)
        os.replace(unfinished, target)
        flush(target.parent)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            beside(unfinished, ending).unlink(missing_ok=True)
    return target


def _stamp(last: Path | None) -> str:
    """The time as a name that sorts after the last backup's, even if the clock was set back."""
    now = datetime.now(UTC)
    if last is not None:
        try:
            before = datetime.strptime(last.stem, _STAMP).replace(tzinfo=UTC)
            now = max(now, before + timedelta(microseconds=1))
        except ValueError:
            pass  # a name that somebody gave
    return now.strftime(_STAMP)


def before_migration(database: Database, version: int) -> Path | None:
    """The backup before a change of the schema, `tuning.db.version-1.backup`, which is not dropped.

    A PostgreSQL store is left to its server: the migration keeps what it rewrites as tables.
    """
    path = database.address.path
    if path is None:
        return None
    try:
        return copy_to(beside(path, f".version-{version}.backup"), path, version)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            "backup.before_migration_failed", path=path, version=version, error=error
        ) from error


def restore(path: Path, chosen: Path | None = None) -> Path:
    """Put a backup (the newest one) in the store's place; what was there is kept beside it."""
    source = newest(path) if chosen is None else chosen
    if source is None or not source.is_file():
        raise NotFound("backup.none", folder=folder_of(path))
    try:
        with closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as copy:
            check(copy, source)
    except sqlite3.Error as error:
        raise Damaged("backup.damaged", source=source, error=error) from error
    try:
        _replace_store(source, path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError("backup.not_put_back", source=source, path=path, error=error) from error
    return source


def _replace_store(source: Path, path: Path) -> None:
    unfinished = beside(path, f".restoring-{os.getpid()}")
    try:
        make_file(unfinished)
        shutil.copyfile(source, unfinished)
        with closing(sqlite3.connect(unfinished)) as copy:
            # whoever was at work then works on the file that goes; its trials are free again
            copy.execute("UPDATE worker SET retired = ? WHERE retired IS NULL", (time.time(),))
            copy.commit()
        flush(unfinished)
        set_aside(path)
        os.replace(unfinished, path)
        flush(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def set_aside(path: Path) -> None:
    """Keep a store's file, and the log that belongs to it, under another name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for ending in ("", "-wal", "-shm"):  # a log that outlives its file would be played into it
        if beside(path, ending).exists():
            os.replace(beside(path, ending), beside(path, f".replaced-{stamp}{ending}"))


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite's check finds torn, or with a curve whose checksum is wrong."""
    try:
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict == "ok" and (fault := next(_of_batches(connection.execute(_BATCHES)), None)):
            verdict = f"{fault.where}: {fault.what}"
    except UnicodeDecodeError as error:  # SQLite quotes a name that is no text any more
        verdict = str(error)
    if verdict != "ok":
        raise Damaged("store.damaged", path=str(path), found=verdict)
