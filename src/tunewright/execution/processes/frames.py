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
