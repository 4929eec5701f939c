"""A queue in front of SQLite's write lock, for the processes of one machine.

SQLite makes waiting writers sleep and ask again, up to a tenth of a second each time, so that under
load some wait for ever while the lock lies idle. Waiting in the kernel for an advisory lock on a
file beside the store hands it on at once. It only orders the writers: what keeps the file whole is
SQLite's own lock, which is taken as well.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # where there is no flock, SQLite's own waiting has to do
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """One file, held by one thread of one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open (and if need be make) the file; nothing is locked yet."""
        self._threads = threading.Lock()
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    @contextmanager
    def held(self, patience_s: float) -> Iterator[None]:
        """Hold it for a block; after `patience_s` without it the block begins all the same.

        SQLite then waits for its own lock, and says so if it cannot have it either.
        """
        with self._threads:
            taken = self._take(patience_s)
            try:
                yield
            finally:
                if taken:
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _take(self, patience_s: float) -> bool:
        if fcntl is None:
            return False
        deadline = time.monotonic() + patience_s
        pause = 0.0002
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(pause)
                pause = min(pause * 1.5, 0.005)
            else:
                return True

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)
