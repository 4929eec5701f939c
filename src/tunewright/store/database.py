"""One open database: transactions, the queue of writers, and every failure in our own words.

Writes take the write lock at once (`BEGIN IMMEDIATE`), so that a transaction never finds out at its
end that it came second. A write that fails leaves nothing behind. What may pass (a server that
restarts, a full disk, a lock) is a plain StoreError and worth trying again; OutOfDate, Damaged and
NotFound are final.

A result that was acknowledged outlives a power cut: SQLite's log is flushed to the disk before a
durable write returns. SQLite would do so itself under `synchronous = FULL`, but while it holds the
write lock. Here it commits under NORMAL, which keeps the file whole at any moment, and the log is
flushed right after the lock is released: writers of several processes flush side by side, and what
need not outlive its process (a claim, a beat) is not flushed at all.

SQLite makes waiting writers sleep and ask again, up to a tenth of a second each time, so that under
load some wait for seconds while others write on. Measured with 8 writers on 2 busy cores: the
longest wait was 8.6 s that way, 0.6 s with writers waiting in the kernel for an advisory lock on a
file beside the store, at the same throughput. It only orders the writers: what keeps the file whole
is SQLite's own lock, which is taken as well.

A store holds commands, uncommitted code and logs. Its files are made 0600 and its folders 0700,
whatever the umask is. A folder that its group may write to is shared on purpose: what is made in
it follows the umask. What exists keeps its mode.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, exc, text
from sqlalchemy.dialects import postgresql, sqlite as sqlite_dialect

from tunewright.errors import Damaged, StoreError
from tunewright.messages import Message
from tunewright.snapshot import flush
from tunewright.store.address import INSTEAD, Address

AGAIN_S = 60.0  # after a wait in vain the file is only tried, not waited for
_WARN_AT = 2  # many workers of one round can cause one such wait; the second one is reported, once
log = logging.getLogger(__name__)

# for a turn among the writers of this machine: the longest measured was 0.6 s. Somebody who holds
# the file for longer is not writing, and SQLite's own lock is enough without the queue.
QUEUE_S = 5.0
WAIT_S = 60.0  # for SQLite's write lock, and for PostgreSQL's row locks
_ALONE = text("SELECT pg_advisory_xact_lock(7435172163)")  # any number that is only ours
_ALONE_NOW = text("SELECT pg_try_advisory_xact_lock(7435172163)")
RESERVE_MB = 64
_RESERVE_FILES = 100  # names of files, which a file system may run out of before space


def shared(folder: Path) -> bool:
    """Whether others than its user are meant to write into the nearest folder that exists."""
    here = folder.absolute()
    while True:
        try:
            mode = os.stat(here).st_mode
            break
        except (FileNotFoundError, NotADirectoryError):
            here = here.parent
    # everybody's scratch space (/tmp) is sticky: that shares the space, not the files
    return bool(mode & stat.S_IWGRP) and not mode & stat.S_ISVTX


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing; one that exists is left as it is."""
    if path.is_dir():
        return
    mode = 0o777 if shared(path) else 0o700
    try:
        os.mkdir(path, mode)  # most often the one folder is missing
    except FileExistsError:
        if not path.is_dir():
            raise
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(mode=mode, exist_ok=True)


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file for `open(..., opener=opener)`; a new one is private."""
    mode = 0o666 if shared(Path(path).parent) else 0o600
    return os.open(path, flags | os.O_CLOEXEC, mode)


def make_file(path: Path) -> None:
    """Make an empty file for a library that would make it readable for all."""
    os.close(opener(path, os.O_RDWR | os.O_CREAT))


try:
    import fcntl
except ImportError:  # where there is no flock, SQLite's own waiting has to do
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """One file, held by one thread of one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open (and if need be make) the file; nothing is locked yet.

        Whoever can open it can hold it, so that one of an older version becomes private too.
        """
        self._path = path
        self._threads = threading.Lock()
        self._descriptor = opener(path, os.O_RDWR | os.O_CREAT)
        self._blocked_until = 0.0  # not waited for before, by the monotonic clock
        self._waits_in_vain = 0
        with contextlib.suppress(OSError):
            status = os.fstat(self._descriptor)
            if status.st_mode & 0o077 and status.st_uid == os.geteuid() and not shared(path.parent):
                os.fchmod(self._descriptor, 0o600)

    @contextmanager
    def hold(self, patience_s: float) -> Iterator[None]:
        """Hold it for a block; after `patience_s` without it the block begins all the same.

        SQLite then waits for its own lock, and reports if it cannot have it either: a process that
        was stopped in the middle of a write holds both.
        """
        with self._threads:
            taken = fcntl is not None and self._take(patience_s)
            try:
                yield
            finally:
                if taken:
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _take(self, patience_s: float) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < self._blocked_until:
                return False  # somebody holds it for good: SQLite's own lock will do
            if _Wait(self._descriptor).over(patience_s):
                return True
            self._blocked_until = time.monotonic() + AGAIN_S
            self._waits_in_vain += 1
            if self._waits_in_vain == _WARN_AT:
                self._warn(patience_s)
            return False
        return True

    def _warn(self, patience_s: float) -> None:
        holders = _holders_of(self._descriptor)
        code = "store.lock_held_by" if holders else "store.lock_held"
        facts = {"path": str(self._path), "seconds": patience_s, "holders": holders}
        log.warning("%s", Message(code, facts))

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


def _holders_of(descriptor: int) -> list[int]:
    """The processes that hold a lock on an open file, as far as /proc/locks names them."""
    try:
        status = os.fstat(descriptor)
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    rows = [line.split() for line in lines]
    return sorted({int(row[4]) for row in rows if len(row) > 5 and row[5] == device})


class _Wait:
    """One wait in the kernel, which knows no time limit, by a thread that can be left behind."""

    def __init__(self, descriptor: int) -> None:
        # a duplicate, which shares the lock and stays open however long the thread waits
        self._lock, self._descriptor = descriptor, os.dup(descriptor)
        self._answer = threading.Lock()
        self._taken = False
        self._abandoned = False
        self._thread = threading.Thread(target=self._wait, name="tunewright-lock", daemon=True)

    def over(self, patience_s: float) -> bool:
        """Whether the lock was had in time."""
        self._thread.start()
        try:
            self._thread.join(patience_s)
        except BaseException:  # Ctrl-C: nobody would give it back
            with self._answer:
                self._abandoned = True
                if self._taken:
                    fcntl.flock(self._lock, fcntl.LOCK_UN)
            raise
        with self._answer:
            self._abandoned = not self._taken
            return self._taken

    def _wait(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with self._answer:
                self._taken = not self._abandoned
                if self._abandoned:
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        finally:
            os.close(self._descriptor)


class _Open(threading.local):
    """The transaction this thread is in, so that nested calls join it."""

    connection: Connection | None = None
    writes: bool = False
    durable: bool = False
    afterwards: tuple[Callable[[], None], ...] = ()  # what is to be done once it is committed


def when(seconds: float) -> datetime:
    """The moment of a stored time, in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


@cache
def insert_new(table: Table, sqlite: bool) -> Any:
    """The insert of rows that passes over those that are there: written twice, they count once."""
    dialect: Any = sqlite_dialect if sqlite else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


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

    @property
    def default_root(self) -> Path | None:
        """The folder of trials of rounds that name none; None: a server has none."""
        return None if self.address.path is None else beside(self.address.path, ".trials")

    def root_of(self, folder: str) -> Path | None:
        """The folder of trials of a round, which may name one; None: it is not known."""
        return Path(folder) if folder else self.default_root

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
            raise StoreError("store.read_only", shown=self.address.masked)
        self._open.durable, self._open.afterwards = durable, ()
        self._check_in_place()
        with self._in_our_words():
            with self._in_queue(), self.engine.connect() as connection:
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
        return StoreError("store.not_flushed", shown=self.address.masked, reason=error.strerror)

    def _check_in_place(self) -> None:
        """Refuse to write to a file that nobody would find again."""
        path = self.address.path
        if path is None:
            return
        try:
            status = os.stat(path)
            file = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            file = None
        if self._file is None:
            self._file = file
        elif file != self._file:
            state = "is gone" if file is None else "was replaced by another file"
            raise Damaged("store.file_changed", path=path, state=state)

    @contextmanager
    def _in_queue(self) -> Iterator[None]:
        if self._lock is None:
            yield
        else:
            with self._lock.hold(QUEUE_S):
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
            raise _translate(error, self.address) from error


def beside(path: Path, ending: str) -> Path:
    """The neighbour of a store's file that is called after it: tuning.db.lock."""
    return path.with_name(path.name + ending)


def _translate(error: exc.SQLAlchemyError, address: Address) -> StoreError:
    """What a database error means for the person who reads it."""
    complaint = str(getattr(error, "orig", None) or error).strip()
    where = address.masked
    if address.path is None:
        return StoreError("store.unusable", store=where, reason=complaint)
    if "malformed" in complaint or "not a database" in complaint or "Could not decode" in complaint:
        return Damaged("store.damaged_in_use", store=where, reason=complaint)
    if "full" in complaint:
        return StoreError("store.disk_full", store=where, reason=complaint)
    if "locked" in complaint or "busy" in complaint:
        return StoreError("store.locked", store=where, wait_s=WAIT_S, reason=complaint)
    if "readonly" in complaint or "unable to open" in complaint:
        return StoreError("store.not_writable", store=where, reason=complaint, instead=INSTEAD)
    return StoreError("store.unusable", store=where, reason=complaint)


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
                "store.no_shared_memory", shown=address.masked, mode=mode, instead=INSTEAD
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


def short_of_space(folder: Path, reserve_mb: float = RESERVE_MB) -> str | None:
    """Why nothing new should be begun here, or None while there is enough space.

    >>> short_of_space(Path("."), reserve_mb=0) is None
    True
    """
    here = folder.absolute()
    while not here.exists():
        here = here.parent
    free_mb = shutil.disk_usage(here).free / 2**20
    if _no_names(here):
        return (
            f"{here} can hold fewer than {_RESERVE_FILES} more files (no inodes): nothing new is "
            "begun until some are deleted. Nothing recorded is lost."
        )
    if free_mb >= reserve_mb:
        return None
    return (
        f"only {free_mb:.0f} MB are free in {here}, less than the {reserve_mb:.0f} MB kept in "
        "reserve: nothing new is begun until space is freed. Nothing recorded is lost."
    )


def _no_names(folder: Path) -> bool:
    """Whether a file system with a fixed number of files has almost none left."""
    if not hasattr(os, "statvfs"):
        return False
    status = os.statvfs(folder)
    return status.f_files > 0 and status.f_favail < min(_RESERVE_FILES, status.f_files // 10)
