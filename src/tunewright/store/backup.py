"""Backups of a SQLite store: made while it is in use, checked when written, three kept.

PostgreSQL has its own (`pg_dump`, or the server's administrator); this file leaves it alone.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.snapshot import flush
from tunewright.store.database import Database, beside
from tunewright.store.disk_reserve import RESERVE_MB
from tunewright.store.integrity import curve_faults
from tunewright.store.private import make_file, make_folder

KEPT = 3
EVERY_S = 600.0
STAMP = "%Y%m%dT%H%M%S.%fZ"


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
            told = dict(copy.execute("SELECT key, value FROM about"))
            if "identity" not in told:
                raise Damaged("backup.store_not_whole", path=path)
        if version is not None and told.get("schema") != str(version):
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
            before = datetime.strptime(last.stem, STAMP).replace(tzinfo=UTC)
            now = max(now, before + timedelta(microseconds=1))
        except ValueError:
            pass  # a name that somebody gave
    return now.strftime(STAMP)


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
        _put_in_place(source, path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError("backup.not_put_back", source=source, path=path, error=error) from error
    return source


def _put_in_place(source: Path, path: Path) -> None:
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
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found == "ok" and (fault := next(curve_faults(connection), None)):
            found = f"{fault.where}: {fault.what}"
    except UnicodeDecodeError as error:  # SQLite quotes a name that is no text any more
        found = str(error)
    if found != "ok":
        raise Damaged("store.damaged", path=str(path), found=found)
