"""Events as a file that grows: a task on a node appends them, the supervisor reads what is new.

No port is open and nothing is locked: one process writes a file, one reads it. A message that is
not complete yet is read once its rest has arrived.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tunewright.execution.executors.executor import Event
from tunewright.execution.processes.frames import (
    Receiver,
    as_event,
    as_frame,
    to_bytes,
    write_all,
)

_CHUNK = 2**18  # bytes read at once


class Outbox:
    """The end that writes."""

    def __init__(self, path: Path) -> None:
        """Append to this file, which only its owner may read."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def append(self, event: Event) -> None:
        """Append one event."""
        write_all(self._file, to_bytes(*as_frame(event)))

    def sync(self) -> None:
        """Return once what was written is on the file system, as other nodes see it."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Inbox:
    """The end that reads; the file may not be there yet."""

    def __init__(self, path: Path) -> None:
        """Read this file from its start."""
        self._path = path
        self._read = 0
        self._receiver = Receiver()

    def new(self) -> Iterator[Event]:
        """The events that have arrived since the last call."""
        try:
            file = os.open(self._path, os.O_RDONLY)  # opened anew, so that NFS shows what is new
        except OSError:
            return
        try:
            while data := os.pread(file, _CHUNK, self._read):
                self._read += len(data)
                for head, body in self._receiver.feed(data):
                    event = as_event(head, body)
                    if event is not None:
                        yield event
        finally:
            os.close(file)
