"""The `.wandb` file of an offline run: its settings, history and end, read without W&B.

The file is a log of blocks of 32 KiB in LevelDB's form, with a separate head; a record is a
protocol-buffer message whose values are JSON texts.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunewright.errors import Unreadable
from tunewright.formats.wire import Field, fields, inside, signed, text
from tunewright.importers.foreign import PointsInOrder, number_or_none, whole_or_none

HEAD = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
BLOCK = 32768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4  # a record whole, or its parts
LARGEST_RECORD = 64 * 2**20  # bytes
DEEPEST = 20  # of nested values
HISTORY, SUMMARY, CONFIG, RUN, EXIT = 2, 3, 5, 17, 18  # kinds of records


@dataclass
class OfflineRun:
    """What an offline run recorded."""

    name: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    points: PointsInOrder = field(default_factory=PointsInOrder)
    summary: dict[str, float] = field(default_factory=dict)
    exit_code: int | None = None  # None: no end was recorded
    runtime_s: float = 0.0
    torn: bool = False


def read_run(path: Path) -> OfflineRun:
    """The run in a `.wandb` file, as far as the file is whole."""
    run = OfflineRun()
    try:
        for record in records(path):
            _take(record, run)
    except Unreadable:
        run.torn = True
    return run


def records(path: Path, begins: bytes = HEAD) -> Iterator[bytes]:
    """Each record of a file that begins so; Unreadable at one that is torn."""
    with path.open("rb") as file:
        if file.read(len(HEAD)) != begins:
            raise Unreadable("importers.not_a_wandb_file", path=path)
        at, parts = len(HEAD), b""
        while True:
            left = BLOCK - at % BLOCK
            if left < 7:  # too little for a record: filled with zeros
                file.seek(left, 1)
                at += left
            head = file.read(7)
            if not head:
                return
            if len(head) < 7:
                raise Unreadable("importers.event_file_cut", path=path)
            checksum, length, kind = struct.unpack("<IHB", head)
            data = file.read(length)
            if len(data) < length or zlib.crc32(data, zlib.crc32(bytes([kind]))) != checksum:
                raise Unreadable("importers.wandb_checksum", path=path)
            at += 7 + length
            if kind in (FULL, FIRST):
                parts = b""
            if len(parts) + length <= LARGEST_RECORD:
                parts += data
            if kind in (FULL, LAST):
                yield parts


def _take(record: bytes, run: OfflineRun) -> None:
    for kind, value in fields(record):
        if kind == HISTORY:
            _take_history(inside(value), run)
        elif kind == SUMMARY:
            for name, number in _updates(inside(value)):
                run.summary |= dict(_numbers(name, number))
        elif kind == CONFIG:
            _take_config(inside(value), run)
        elif kind == RUN:
            for key, part in fields(inside(value)):
                if key == 4:
                    _take_config(inside(part), run)
                elif key == 8:
                    run.name = text(part)
        elif kind == EXIT:
            found: dict[int, Field] = dict(fields(inside(value)))
            run.exit_code = signed(found.get(1, 0))
            run.runtime_s = float(signed(found.get(2, 0)))


def _take_config(config: bytes, run: OfflineRun) -> None:
    for name, value in _updates(config):
        if name != "_wandb":
            run.config[name] = value


def _take_history(history: bytes, run: OfflineRun) -> None:
    step: int | None = None
    items = []
    for key, value in fields(history):
        if key == 1:
            items.append(_item(inside(value)))
        elif key == 2:
            step = signed(dict(fields(inside(value))).get(1, 0))
    if step is None:
        step = whole_or_none(dict(items).get("_step", 0)) or 0
    for name, own in items:
        for metric, number in _numbers(name, own):
            run.points.add(metric, step, number)


def _updates(message: bytes) -> Iterator[tuple[str, Any]]:
    for key, value in fields(message):
        if key == 1:
            yield _item(inside(value))


def _item(item: bytes) -> tuple[str, Any]:
    """A name and its value; the parts of a nested name are joined by dots."""
    names, value = [], "null"
    for key, part in fields(item):
        if key in (1, 2):
            names.append(text(part))
        elif key == 16:
            value = text(part)
    try:
        return ".".join(n for n in names if n), json.loads(value)
    except (ValueError, RecursionError):
        return ".".join(n for n in names if n), None


def _numbers(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, float]]:
    """Every number below a value; pictures, histograms and W&B's own entries are passed over."""
    if name.startswith("_") or depth > DEEPEST:
        return
    if isinstance(value, dict):
        if "_type" not in value:
            for key, own in value.items():
                yield from _numbers(f"{name}.{key}", own, depth + 1)
    elif not isinstance(value, str) or value in ("NaN", "Infinity", "-Infinity"):
        number = number_or_none(value)
        if number is not None:
            yield name, number
