"""A queue in front of SQLite's write lock, for the processes of one machine.

SQLite makes waiting writers sleep and ask again, up to a tenth of a second each time, so that under
load some wait for seconds while others write on. Measured with 8 writers on 2 busy cores: the
longest wait was 8.6 s that way, 0.6 s with writers waiting in the kernel for an advisory lock on a
file beside the store, at the same throughput. It only orders the writers: what keeps the file whole
is SQLite's own lock, which is taken as well.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tunewright.messages import Message
from tunewright.store.private import opener, shared

try:
    import fcntl
except ImportError:  # where there is no flock, SQLite's own waiting has to do
    fcntl = None  # type: ignore[assignment]


AGAIN_S = 60.0  # after a wait in vain the file is only tried, not waited for
WARN_AT = 2  # many workers of one round can cause one such wait; the second one is reported, once
log = logging.getLogger(__name__)


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
    def held(self, patience_s: float) -> Iterator[None]:
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
            if self._waits_in_vain == WARN_AT:
                self._warn(patience_s)
            return False
        return True

    def _warn(self, patience_s: float) -> None:
        holders = holders_of(self._descriptor)
        code = "store.lock_held_by" if holders else "store.lock_held"
        facts = {"path": str(self._path), "seconds": patience_s, "holders": holders}
        log.warning("%s", Message(code, facts))

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


def holders_of(descriptor: int) -> list[int]:
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
