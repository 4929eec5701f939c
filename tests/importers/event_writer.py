"""Event files as TensorBoard's writers make them: a tiny writer of its own for the tests."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tunewright.formats.event_file import masked_crc


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def block(number: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def single(number: int, value: float) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<f", value)


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def scalar(tag: str, value: float) -> bytes:
    """A value as PyTorch writes it."""
    return block(1, block(1, tag) + single(2, value))


def tensor(tag: str, value: float) -> bytes:
    """A value as TensorFlow 2 writes it: a tensor, marked as a scalar."""
    content = whole(1, 1) + block(2, b"") + block(4, struct.pack("<f", value))
    metadata = block(1, block(1, "scalars"))
    return block(1, block(1, tag) + block(8, content) + block(9, metadata))


def hyperparameters(**settings: Any) -> bytes:
    """The start of a session, as `add_hparams` writes it."""
    entries = b""
    for name, value in settings.items():
        if isinstance(value, bool):
            own = whole(4, value)
        elif isinstance(value, str):
            own = block(3, value)
        else:
            own = double(2, value)
        entries += block(1, block(1, name) + block(2, own))
    return session(block(3, entries))


def session(data: bytes) -> bytes:
    metadata = block(1, block(1, "hparams") + block(2, data))
    return block(1, block(1, "_hparams_/session_start_info") + block(9, metadata))


def failed_session() -> bytes:
    return session(block(4, whole(1, 2)))


def event(step: int, *values: bytes, at_s: float = 1e9) -> bytes:
    return double(1, at_s + step) + whole(2, step) + block(5, b"".join(values))


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)


def write(folder: Path, *events: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "events.out.tfevents.1700000000.host.1.0"
    version = double(1, 1e9) + block(3, "brain.Event:2")
    path.write_bytes(b"".join(record(own) for own in (version, *events)))
    return path
