"""The store that a dashboard reads: opened for reading, and opened again when its file is replaced.

A dashboard outlives its store: a file is moved away, restored from a backup, made anew.
"""

from __future__ import annotations

import os
import threading
import time

from tunewright.errors import NotFound
from tunewright.remedies import FirstRun
from tunewright.store.address import parse
from tunewright.store.database import beside
from tunewright.store.store import Store

# file systems may stamp two writes alike that follow each other within this time
_ALIKE_S = 1.0
File = tuple[int, int]  # device and inode


class Source:
    """One store, by its address."""

    def __init__(self, address: str) -> None:
        """Open it for reading; refused where there is none."""
        self.address = address
        self.generation = 0  # how often it was replaced
        self._path = parse(address).path
        self._lock = threading.Lock()
        self._file = self._file_now()
        self._store = Store.open(address, create=False, read_only=True)

    @property
    def store(self) -> Store:
        """The store as it is now; NotFound while its file is away."""
        if self._file_now() == self._file:
            return self._store
        with self._lock:
            file = self._file_now()
            if file != self._file:
                if file is None:
                    raise NotFound(
                        "store.not_found", path=str(self._path), others=[], remedy=FirstRun()
                    )
                opened = Store.open(self.address, create=False, read_only=True)
                self._store.close()
                self._store, self._file = opened, file
                self.generation += 1
            return self._store

    def stamp(self) -> object:
        """Something that differs once the store was written to; None: it cannot be known."""
        if self._path is None:
            return None
        stamps = []
        for path in (self._path, beside(self._path, "-wal")):
            try:
                status = os.stat(path)
                stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
            except OSError:
                stamps.append((0, 0, 0))
        newest = max(stamp[2] for stamp in stamps) / 1e9
        return None if abs(time.time() - newest) < _ALIKE_S else tuple(stamps)

    def close(self) -> None:
        """Close every connection."""
        self._store.close()

    def _file_now(self) -> File | None:
        """The file that stands at the address; for a server always the same."""
        if self._path is None:
            return (0, 0)
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return (status.st_dev, status.st_ino)
