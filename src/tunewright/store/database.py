"""One open database: transactions, and every failure in our own words.

Writes take the write lock at once (`BEGIN IMMEDIATE`), so that a transaction never finds out at its
end that it came second. A write that fails leaves nothing behind. What may pass (a server that
restarts, a full disk, a lock) is a plain StoreError and worth trying again; OutOfDate, Damaged and
NotFound are final.

A result that was acknowledged outlives a power cut: SQLite's log is flushed to the disk before a
durable write returns. SQLite would do so itself under `synchronous = FULL`, but while it holds the
write lock. Here it commits under NORMAL, which keeps the file whole at any moment, and the log is
flushed right after the lock is given on: writers of several processes flush side by side, and what
need not outlive its process (a claim, a beat) is not flushed at all.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, text

from tunewright.errors import Damaged, StoreError
from tunewright.snapshot import flush
from tunewright.store.address import INSTEAD, Address
from tunewright.store.file_lock import FileLock

# for a turn among the writers of this machine: the longest measured was 0.6 s. Somebody who holds
# the file for longer is not writing, and SQLite's own lock is enough without the queue.
QUEUE_S = 5.0
WAIT_S = 60.0  # for SQLite's write lock, and for PostgreSQL's row locks
_ALONE = text("SELECT pg_advisory_xact_lock(7435172163)")  # any number that is only ours
_ALONE_NOW = text("SELECT pg_try_advisory_xact_lock(7435172163)")


class _Open(threading.local):
    """The transaction this thread is in, so that nested calls join it."""

    connection: Connection | None = None
    writes: bool = False
    durable: bool = False
    afterwards: tuple[Callable[[], None], ...] = ()  # what is to be done once it is committed


class Database:
    """A SQLite file or a PostgreSQL server, opened; see `Store` for what is kept in it."""

    def __init__(
        self, address: Address, *, read_only: bool = False, copy: Path | None = None
    ) -> None:
        """Open it; nothing is read or written yet.

        With `read_only` its connections cannot write; `copy` is then read in place of the file.
        """
        self.address = address
        self.sqlite = address.path is not None
        self.read_only = read_only
        if address.path is not None:
            self.engine = _sqlite(address, copy or address.path, read_only)
        else:
            self.engine = _postgresql(address, read_only)
        self._open = _Open()
        self._last: Callable[[], None] = lambda: None
        self._lock: FileLock | None = None
        self._file: tuple[int, int] | None = None  # device and inode, once there is one
        self._log: int | None = None  # the inode of the log whose name is on the disk
        if address.path is not None:
            self._lock = FileLock(beside(address.path, ".lock"))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view for a block of reads; inside a write it is that transaction."""
        if self._open.connection is not None:
            yield self._open.connection
            return
        with self._in_our_words(), self.engine.connect() as connection:
            yield from self._block(connection, writes=False)

    @contextmanager
    def writing(self, durable: bool = True) -> Iterator[Connection]:
        """One transaction for a block of writes; blocks inside it join it.

        If it, or any block inside it, is `durable`, it is on the disk when the outermost one ends.
        """
        if self._open.connection is not None:
            if not self._open.writes:
                raise StoreError("store.write_while_reading")
            self._open.durable |= durable
            yield self._open.connection
            return
        if self.read_only:
            raise StoreError("store.read_only", shown=self.address.shown)
        self._open.durable, self._open.afterwards = durable, ()
        self._check_in_place()
        with self._in_our_words():
            with self._queued(), self.engine.connect() as connection:
                yield from self._block(connection.execution_options(writes=True), writes=True)
            if self._open.durable:
                self._flush()
        todo: tuple[Callable[[], None], ...] = self._open.afterwards
        for work in todo:
            work()

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a block of reads or writes."""
        return self._open.connection is not None

    def afterwards(self, work: Callable[[], None]) -> None:
        """Do this once the transaction that this thread is in has been committed."""
        self._open.afterwards = (*self._open.afterwards, work)

    def _block(self, connection: Connection, writes: bool) -> Iterator[Connection]:
        with connection.begin():
            self._open.connection, self._open.writes = connection, writes
            try:
                yield connection
            finally:
                self._open.connection = None

    def _flush(self) -> None:
        """Bring what SQLite has committed to the disk; a server has done so already."""
        if self.address.path is None:
            return
        try:
            # a separate file, on which SQLite holds no lock that closing it here would drop
            log = os.open(beside(self.address.path, "-wal"), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return  # moved into the store, and flushed there, by the last one to close it
        except OSError as error:  # no descriptor is left, say
            raise self._not_flushed(error) from error
        try:
            os.fdatasync(log) if hasattr(os, "fdatasync") else os.fsync(log)
            if (inode := os.fstat(log).st_ino) != self._log:  # a new log: its name must last too
                flush(self.address.path.parent)
                self._log = inode
        except OSError as error:
            raise self._not_flushed(error) from error
        finally:
            os.close(log)

    def _not_flushed(self, error: OSError) -> StoreError:
        return StoreError("store.not_flushed", shown=self.address.shown, reason=error.strerror)

    def _check_in_place(self) -> None:
        """Refuse to write to a file that nobody would find again."""
        path = self.address.path
        if path is None:
            return
        try:
            status = os.stat(path)
            found = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            found = None
        if self._file is None:
            self._file = found
        elif found != self._file:
            state = "is gone" if found is None else "was replaced by another file"
            raise Damaged("store.file_changed", path=path, state=state)

    @contextmanager
    def _queued(self) -> Iterator[None]:
        if self._lock is None:
            yield
        else:
            with self._lock.held(QUEUE_S):
                yield

    def alone(self, connection: Connection, *, wait: bool = True) -> bool:
        """Wait until no other transaction holds the same lock; SQLite has one writer anyway.

        False: another has, and this one does not `wait` (it holds rows that the other may want).
        """
        if self.sqlite:
            return True
        if wait:
            connection.execute(_ALONE)
            return True
        return bool(connection.execute(_ALONE_NOW).scalar_one())

    @contextmanager
    def server_lock(self, number: int) -> Iterator[bool]:
        """Hold a lock of the PostgreSQL server for a block; whether it is held.

        A file has no server: there it is always held, and a lock file orders the processes.
        """
        if self.sqlite:
            yield True
            return
        # outside any transaction, so that it holds nothing up however long it is held
        engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            lock = text("SELECT pg_try_advisory_lock(:number)")
            yield bool(connection.execute(lock, {"number": number}).scalar())

    def on_close(self, work: Callable[[], None]) -> None:
        """Do this once every connection is closed."""
        self._last = work

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
        self._last()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        try:
            yield
        except exc.SQLAlchemyError as error:
            raise translated(error, self.address) from error


def beside(path: Path, ending: str) -> Path:
    """The neighbour of a store's file that is called after it: tuning.db.lock."""
    return path.with_name(path.name + ending)


def translated(error: exc.SQLAlchemyError, address: Address) -> StoreError:
    """What a database error means for the person who reads it."""
    said = str(getattr(error, "orig", None) or error).strip()
    where = address.shown
    if address.path is None:
        return StoreError("store.unusable", store=where, reason=said)
    if "malformed" in said or "not a database" in said or "Could not decode" in said:
        return Damaged("store.damaged_in_use", store=where, reason=said)
    if "full" in said:
        return StoreError("store.disk_full", store=where, reason=said)
    if "locked" in said or "busy" in said:
        return StoreError("store.locked", store=where, wait_s=WAIT_S, reason=said)
    if "readonly" in said or "unable to open" in said:
        return StoreError("store.not_writable", store=where, reason=said, instead=INSTEAD)
    return StoreError("store.unusable", store=where, reason=said)


def _sqlite(address: Address, path: Path, read_only: bool) -> Engine:
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        connect_args={"timeout": WAIT_S, "check_same_thread": False},
        pool_size=4,
        max_overflow=16,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        cursor = connection.cursor()
        # a reader leaves the file as it is, header included
        mode = "wal" if read_only else cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            connection.close()
            raise StoreError(
                "store.no_shared_memory", shown=address.shown, mode=mode, instead=INSTEAD
            )
        for pragma in (
            "synchronous = NORMAL",  # whole at any moment; `_flush` makes it durable
            "wal_autocheckpoint = 4000",  # pages, 16 MB: many changes of a page are moved once
            "foreign_keys = ON",
            "cell_size_check = ON",
            "trusted_schema = OFF",
            "temp_store = MEMORY",
            f"query_only = {'ON' if read_only else 'OFF'}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(address: Address, read_only: bool) -> Engine:
    # a worker that hangs in the middle of a write must not hold its rows for ever
    limits = {"lock_timeout": 60_000, "idle_in_transaction_session_timeout": 60_000}
    limits |= {"default_transaction_read_only": 1} if read_only else {}
    return create_engine(
        address.url,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 10,
            "application_name": "tunewright",
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": 60_000,  # milliseconds
            "options": " ".join(f"-c {name}={value}" for name, value in limits.items()),
        },
        pool_size=4,
        max_overflow=16,
    )
