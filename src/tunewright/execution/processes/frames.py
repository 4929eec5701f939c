"""Messages between a supervisor and a worker over a pipe: a JSON head and bytes, framed.

`uint32 length of the head | uint32 length of the body | head | body`
"""

from __future__ import annotations

import dataclasses
import json
import os
import struct
import threading
from collections.abc import Iterator
from typing import Any, get_args

from tunewright.execution.executors.executor import Ended, Event, Logged, Noted
from tunewright.store.outcome import decode, encode, outcome_data, outcome_from

Head = dict[str, Any]
_SIZES = struct.Struct("<II")


def to_bytes(head: Head, body: bytes = b"") -> bytes:
    """One message as it goes over the pipe."""
    text = json.dumps(head).encode()
    return _SIZES.pack(len(text), len(body)) + text + body


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, in as many pieces as the pipe wants."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Sender:
    """Writes whole messages to a pipe, from any thread."""

    def __init__(self, descriptor: int) -> None:
        """Take the pipe's writing end."""
        self._descriptor = descriptor
        self._writing = threading.Lock()

    def send(self, head: Head, body: bytes = b"") -> None:
        """Write one message; waits while the pipe is full."""
        message = to_bytes(head, body)
        with self._writing:
            write_all(self._descriptor, message)


class Receiver:
    """Puts messages together from whatever pieces arrive.

    >>> receiver = Receiver()
    >>> list(receiver.feed(_SIZES.pack(2, 1) + b"{")), list(receiver.feed(b"}x"))
    ([], [({}, b'x')])
    """

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Head, bytes]]:
        """The messages that are complete now."""
        buffer = self._buffer
        buffer += data
        while len(buffer) >= _SIZES.size:
            head_size, body_size = _SIZES.unpack_from(buffer)
            end = _SIZES.size + head_size + body_size
            if len(buffer) < end:
                return
            head = json.loads(buffer[_SIZES.size : _SIZES.size + head_size])
            body = bytes(buffer[_SIZES.size + head_size : end])
            del buffer[:end]
            yield head, body


# ---- The events of an attempt as frames: from a training process to its pool, and in the mailbox
# of a Slurm task. An event that one kind of worker sends, all of them can send.


_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


def as_frame(event: Event) -> tuple[Head, bytes]:
    """An event as plain data and bytes.

    >>> from tunewright.execution.executors.executor import Stepped
    >>> as_frame(Stepped(7, 1, 20))[0]
    {'kind': 'Stepped', 'trial': 7, 'attempt': 1, 'step': 20, 'total': None}
    """
    fields = {each.name: getattr(event, each.name) for each in dataclasses.fields(event)}
    body = fields.pop("points", b"")
    if isinstance(event, Noted):
        fields["message"] = encode(event.message)
    if isinstance(event, Ended):
        fields["outcome"] = outcome_data(event.outcome)
    return {"kind": type(event).__name__, **fields}, body


def as_event(head: Head, body: bytes) -> Event | None:
    """The event of a frame; None for a frame of another kind.

    >>> as_event({"kind": "Stepped", "trial": 7, "attempt": 1, "step": 20, "total": None}, b"")
    Stepped(trial=7, attempt=1, step=20, total=None)
    """
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
