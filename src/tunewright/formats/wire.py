"""Protocol-buffer messages taken apart by hand: the few fields we need, without the packages.

The packages that define these messages are heavy and pull in frameworks; the wire format is four
kinds of fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tunewright.errors import Unreadable

Field = int | bytes  # a whole number, or bytes: text, a message, or the 4 or 8 of a float


def fields(message: bytes) -> Iterator[tuple[int, Field]]:
    """Each field of a message, as (number, value), in the order written.

    >>> list(fields(bytes([8, 150, 1, 18, 2, 104, 105])))
    [(1, 150), (2, b'hi')]
    """
    at, end = 0, len(message)
    while at < end:
        key, at = _whole(message, at)
        number, kind = key >> 3, key & 7
        value: Field
        if kind == 0:
            value, at = _whole(message, at)
        elif kind in (1, 2, 5):
            size = {1: 8, 5: 4}.get(kind, -1)
            if size < 0:
                size, at = _whole(message, at)
            if at + size > end:
                raise Unreadable("importers.wire_field_cut")
            value, at = message[at : at + size], at + size
        else:
            raise Unreadable("importers.wire_unknown_kind", kind=kind)
        yield number, value


def _whole(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise Unreadable("importers.wire_number_cut")
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def to_signed(value: Field) -> int:
    """A whole number that may be negative; 0 for anything else."""
    if not isinstance(value, int):
        return 0
    return value - 2**64 if value >= 2**63 else value


def text(value: Field) -> str:
    """A text field."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def number(value: Field) -> float:
    """A field of 4 or 8 bytes as the float it is."""
    if isinstance(value, bytes) and len(value) in (4, 8):
        return float(struct.unpack("<f" if len(value) == 4 else "<d", value)[0])
    raise Unreadable("importers.wire_not_a_float")


def inside(value: Field) -> bytes:
    """A field that is itself a message."""
    return value if isinstance(value, bytes) else b""
