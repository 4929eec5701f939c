"""A queue in front of SQLite's write lock, for the processes of one machine.

SQLite makes waiting writers sleep and ask again, up to a tenth of a second each time, so that under
load some wait for seconds while others write on. Measured with 8 writers on 2 busy cores: the
longest wait was 8.6 s that way, 0.6 s with writers waiting in the kernel for an advisory lock on a
file beside the store, at the same throughput. It only orders the writers: what keeps the file whole
is SQLite's own lock, which is taken as well.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tunewright.store.private import opener

try:
    import fcntl
except ImportError:  # where there is no flock, SQLite's own waiting has to do
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """One file, held by one thread of one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open (and if need be make) the file; nothing is locked yet."""
        self._threads = threading.Lock()
        self._descriptor = opener(path, os.O_RDWR | os.O_CREAT)

    @contextmanager
    def held(self, patience_s: float) -> Iterator[None]:
        """Hold it for a block; after `patience_s` without it the block begins all the same.

        SQLite then waits for its own lock, and says so if it cannot have it either: a process that
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
            return _Wait(self._descriptor).over(patience_s)
        return True

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


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
