"""Messages between a supervisor and a worker over a pipe: a JSON head and bytes, framed.

`uint32 length of the head | uint32 length of the body | head | body`
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Iterator
from typing import Any

from tunewright.execution.executors.executor import (
    Applied,
    Began,
    Event,
    Logged,
    Noted,
    Saved,
    Stepped,
)
from tunewright.store.outcome import decode, encode

Head = dict[str, Any]
_SIZES = struct.Struct("<II")


def encoded(head: Head, body: bytes = b"") -> bytes:
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
        message = encoded(head, body)
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


# ---- The events of an attempt as frames of the pipe between a training process and its pool.
#
# One codec for every kind of worker process: an event that one of them sends, all of them send.
# How an attempt ended travels as an outcome (`store/outcome.py`).


Frame = tuple[Head, bytes]


def as_frame(event: Event) -> Frame | None:
    """The head and body that carry an event; None for one that is no frame of its kind (`Ended`).

    >>> as_frame(Stepped(7, 1, 400, 2000))
    ({'kind': 'step', 'step': 400, 'total': 2000}, b'')
    """
    match event:
        case Began():
            return {"kind": "began", "start": event.start_step, "at": event.worker}, b""
        case Logged():
            return {"kind": "logged"}, event.points
        case Saved():
            about = {"step": event.step, "path": event.path, "sha256": event.sha256}
            return {"kind": "saved", **about}, b""
        case Stepped():
            return {"kind": "step", "step": event.step, "total": event.total}, b""
        case Noted():
            return {"kind": "noted", "message": encode(event.message)}, b""
        case Applied():
            return {"kind": "applied", "values": event.values}, b""
    return None


def as_event(
    names: tuple[int, int], head: Head, body: bytes, devices: tuple[str, ...] = ()
) -> Event | None:
    """The event of a frame, about this trial and attempt; None for a frame of another kind.

    >>> as_event((7, 1), {"kind": "step", "step": 400, "total": 2000}, b"")
    Stepped(trial=7, attempt=1, step=400, total=2000)
    """
    match head["kind"]:
        case "began":
            return Began(*names, head["start"], head["at"], devices)
        case "logged":
            return Logged(*names, body)
        case "saved":
            return Saved(*names, head["step"], head["path"], head["sha256"])
        case "step":
            return Stepped(*names, head["step"], head["total"])
        case "noted" if (note := decode(head["message"])) is not None:
            return Noted(*names, note)
        case "applied":
            return Applied(*names, head["values"])
    return None
