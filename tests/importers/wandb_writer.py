"""Offline runs of W&B as its own writer makes them: a tiny writer for the tests."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from tests.importers.event_writer import block, varint, whole

from tunewright.importers._wandb import BLOCK, FIRST, FULL, HEAD, LAST, MIDDLE


def item(name: str, value: Any) -> bytes:
    return block(1, block(1, name) + block(16, json.dumps(value)))


def config(**settings: Any) -> bytes:
    return block(5, b"".join(item(name, value) for name, value in settings.items()))


def run(name: str, **settings: Any) -> bytes:
    updates = b"".join(item(key, value) for key, value in settings.items())
    return block(17, block(1, "id") + block(4, updates) + block(8, name))


def history(step: int, **metrics: Any) -> bytes:
    items = b"".join(item(name, value) for name, value in metrics.items())
    return block(2, items + block(2, whole(1, step)))


def summary(**metrics: Any) -> bytes:
    return block(3, b"".join(item(name, value) for name, value in metrics.items()))


def ended(code: int, runtime_s: int = 12) -> bytes:
    return block(18, (whole(1, code) if code else b"") + whole(2, runtime_s))


def write(folder: Path, *records: bytes) -> Path:
    """Records cut into blocks, with a checksum each."""
    folder.mkdir(parents=True, exist_ok=True)
    out = HEAD
    for number, record in enumerate(records):
        data = varint(1 << 3) + varint(number) + record
        first = True
        while True:
            left = BLOCK - len(out) % BLOCK
            if left < 7:
                out += bytes(left)
                left = BLOCK
            part, data = data[: left - 7], data[left - 7 :]
            kind = (FULL if first else LAST) if not data else (FIRST if first else MIDDLE)
            checksum = zlib.crc32(part, zlib.crc32(bytes([kind])))
            out += struct.pack("<IHB", checksum, len(part), kind) + part
            first = False
            if not data:
                break
    path = folder / "run-abc123.wandb"
    path.write_bytes(out)
    return path
