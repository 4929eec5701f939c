"""Backups of a SQLite store: made while it is in use, checked when written, three kept.

PostgreSQL has its own (`pg_dump`, or the server's administrator); this file leaves it alone.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.record.database import Database, beside
from tunewright.record.reserve import RESERVE_MB

KEPT = 3
EVERY_S = 600.0


def folder_of(path: Path) -> Path:
    """Where the backups of a store stand."""
    return beside(path, ".backups")


def backups(path: Path) -> list[Path]:
    """The backups of a store, oldest first."""
    return sorted(folder_of(path).glob("*.db"))


def newest(path: Path) -> Path | None:
    """The newest backup of a store, if it has one."""
    found = backups(path)
    return found[-1] if found else None


def due(path: Path) -> bool:
    """Whether the newest backup is older than ten minutes, or there is none."""
    last = newest(path)
    return last is None or not 0 <= time.time() - last.stat().st_mtime < EVERY_S


def make(path: Path) -> Path:
    """Write a backup of a store that may be in use, check it, and drop all but the newest three."""
    free_mb = shutil.disk_usage(path.parent).free / 2**20
    if free_mb < path.stat().st_size / 2**20 + RESERVE_MB:
        raise StoreError(
            f"no backup of {path}: only {free_mb:.0f} MB are free, too few for a copy."
        )
    folder = folder_of(path)
    folder.mkdir(exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target, unfinished = folder / f"{stamp}.db", folder / f"{stamp}.{os.getpid()}.tmp"
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            # one plain file: it must open without neighbours, on a read-only disk too
            copy.execute("PRAGMA journal_mode = DELETE")
            check(copy, path)
        _flush(unfinished)
        os.replace(unfinished, target)
        _flush(folder)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup of {path} could be written: {error}") from error
    finally:
        for left in folder.glob(f"{unfinished.name}*"):
            left.unlink(missing_ok=True)
    for old in backups(path)[:-KEPT]:
        old.unlink(missing_ok=True)
    return target


def before_migration(database: Database) -> Path | None:
    """The backup before a change of the schema; PostgreSQL is left to its own."""
    path = database.address.path
    return None if path is None else make(path)


def restore(path: Path, chosen: Path | None = None) -> Path:
    """Put a backup (the newest one) in the store's place; what was there is kept beside it."""
    source = newest(path) if chosen is None else chosen
    if source is None or not source.is_file():
        raise NotFound(f"no backup to restore in {folder_of(path)}.")
    try:
        with closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as copy:
            check(copy, source)
    except sqlite3.Error as error:
        raise Damaged(f"the backup {source} is damaged itself ({error}).") from error
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for ending in ("", "-wal", "-shm"):  # a log that outlives its file would be played into it
        old = beside(path, ending)
        if old.exists():
            os.replace(old, beside(path, f".replaced-{stamp}{ending}"))
    unfinished = beside(path, f".restoring-{os.getpid()}")
    unfinished.write_bytes(source.read_bytes())
    _flush(unfinished)
    os.replace(unfinished, path)
    _flush(path.parent)
    return source


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite's check finds torn."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise Damaged(f"{path} is damaged ({found}); it is kept as it is.")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
