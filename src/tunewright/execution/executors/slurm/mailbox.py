"""Events as a file that grows: a task on a node appends them, the supervisor reads what is new.

No port is open and nothing is locked: one process writes a file, one reads it. A message that is
not complete yet is read once its rest has arrived.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tunewright.execution.executors.executor import (
    Applied,
    Began,
    Ended,
    Event,
    Logged,
    Noted,
    Saved,
    Stepped,
)
from tunewright.execution.processes.frames import Head, Receiver, encoded, write_all
from tunewright.store.outcome import decode, encode, outcome_data, outcome_from

_CHUNK = 2**18  # bytes read at once
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Applied, Began, Ended, Logged, Noted, Saved, Stepped)
}


def _as_frame(event: Event) -> tuple[Head, bytes]:
    """An event as plain data and bytes.

    >>> _as_frame(Stepped(7, 1, 20))[0]
    {'kind': 'Stepped', 'trial': 7, 'attempt': 1, 'step': 20, 'total': None}
    """
    fields = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}
    body = fields.pop("points", b"")
    if isinstance(event, Noted):
        fields["message"] = encode(event.message)
    if isinstance(event, Ended):
        fields["outcome"] = outcome_data(event.outcome)
    return {"kind": type(event).__name__, **fields}, body


def _as_event(head: Head, body: bytes) -> Event | None:
    """The event of a frame; None for a kind that is not known here."""
    fields = dict(head)
    kind = _KINDS.get(fields.pop("kind", ""))
    if kind is None:
        return None
    if kind is Noted:
        fields["message"] = decode(fields["message"])
    if kind is Ended:
        fields["outcome"] = outcome_from(fields["outcome"])
    if kind is Logged:
        fields["points"] = body
    if "devices" in fields:
        fields["devices"] = tuple(fields["devices"])
    event: Event = kind(**fields)
    return event


class Outbox:
    """The end that writes."""

    def __init__(self, path: Path) -> None:
        """Append to this file, which only its owner may read."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def put(self, event: Event) -> None:
        """Append one event."""
        write_all(self._file, encoded(*_as_frame(event)))

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
                    event = _as_event(head, body)
                    if event is not None:
                        yield event
        finally:
            os.close(file)
