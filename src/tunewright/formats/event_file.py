"""TensorBoard's event files: scalars and hyperparameters, read without TensorBoard.

A file is a row of records (length, checksum, event, checksum); an event has a step and a summary of
tagged values. Scalars are written in two ways (a plain number, or a tensor of one), and
hyperparameters stand in the metadata of a value. Everything else is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tunewright.errors import Unreadable
from tunewright.formats.wire import Field, fields, inside, number, text, to_signed

EVENTS = ".tfevents."  # in the name of every event file
_SPLITS = ("train", "validation", "eval", "test")  # folders of one run, as Keras names them
LARGEST_EVENT = 64 * 2**20  # bytes; larger ones hold graphs and pictures
FLOAT, _DOUBLE, _HALF = 1, 2, 19  # kinds of tensors
FAILED = 2  # a session's status
Setting = bool | int | float | str | None


@dataclass
class Events:
    """What one event file holds that concerns us."""

    scalars: list[tuple[str, int, float]] = field(default_factory=list)  # tag, step, value
    hyperparameters: dict[str, Setting] = field(default_factory=dict)
    first_s: float | None = None  # wall time of the first and the last event
    last_s: float | None = None
    failed: bool = False  # the session's status is a failure
    torn: bool = False  # the file ends in the middle of a record, or its checksum is wrong
    end: int = 0  # bytes up to the end of the last whole record


def read_events(path: Path, start: int = 0) -> Events:
    """The scalars and hyperparameters of an event file, as far as it is whole.

    `start` is the `end` of an earlier look at a file that grows.
    """
    events = Events(end=start)
    try:
        for record, end in _records(path, start):
            _take(record, events)
            events.end = end
    except Unreadable:
        events.torn = True
    return events


def tag_prefix(folder: str) -> str:
    """What a folder's name adds to the tags in it: Keras writes `train` and `validation` folders.

    >>> tag_prefix("validation"), tag_prefix("run_1")
    ('validation/', '')
    """
    return f"{folder}/" if folder in _SPLITS else ""


def _records(path: Path, start: int) -> Iterator[tuple[bytes, int]]:
    """Each record of a file with its end; Unreadable at a torn one. Too large ones are empty."""
    size = path.stat().st_size
    with path.open("rb") as file:
        at = start
        file.seek(at)
        while at < size:
            head = file.read(12)
            if len(head) < 12:
                raise Unreadable("importers.event_file_cut", path=path)
            length, checksum = struct.unpack("<QI", head)
            # the length alone is checked: it is what would lead us astray
            if checksum != masked_crc(head[:8]) or at + 16 + length > size:
                raise Unreadable("importers.event_wrong_length", path=path)
            record = file.read(length) if length <= LARGEST_EVENT else b""
            at += 16 + length
            file.seek(at)
            yield record, at


def masked_crc(data: bytes) -> int:
    """The checksum as the format writes it: turned, so that records may hold records."""
    crc = _crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _crc32c(data: bytes) -> int:
    """The CRC with Castagnoli's polynomial.

    >>> hex(_crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _table() -> list[int]:
    rows = []
    for row in range(256):
        for _ in range(8):
            row = (row >> 1) ^ (0x82F63B78 if row & 1 else 0)
        rows.append(row)
    return rows


_TABLE = _table()


def _take(event: bytes, events: Events) -> None:
    step = 0
    summaries = []
    for key, value in fields(event):
        if key == 1:
            events.last_s = number(value)
            events.first_s = events.last_s if events.first_s is None else events.first_s
        elif key == 2:
            step = to_signed(value)
        elif key == 5:
            summaries.append(inside(value))
    for summary in summaries:
        for key, value in fields(summary):
            if key == 1:
                _take_value(inside(value), step, events)


def _take_value(message: bytes, step: int, events: Events) -> None:
    tag, scalar, plugin = "", None, None
    for key, value in fields(message):
        if key == 1:
            tag = text(value)
        elif key == 2:
            scalar = number(value)
        elif key == 8:
            scalar = _of_tensor(inside(value))
        elif key == 9:
            plugin = _plugin(inside(value))
    if plugin is not None and plugin[0] == "hparams":
        _take_session(plugin[1], events)
    elif scalar is not None and tag:
        events.scalars.append((tag, step, scalar))


def _plugin(metadata: bytes) -> tuple[str, bytes]:
    name, content = "", b""
    for key, value in fields(metadata):
        if key == 1:
            for inner, part in fields(inside(value)):
                if inner == 1:
                    name = text(part)
                elif inner == 2:
                    content = inside(part)
    return name, content


def _of_tensor(tensor: bytes) -> float | None:
    """The number of a tensor that holds a single one; None for any other."""
    kind, values = 0, b""
    for key, value in fields(tensor):
        if key == 1:
            kind = to_signed(value)
        elif key == 4 or (key == 5 and kind == FLOAT) or (key == 6 and kind == _DOUBLE):
            values = inside(value)
    form = {FLOAT: "<f", _DOUBLE: "<d", _HALF: "<e"}.get(kind)
    if form is None or len(values) != struct.calcsize(form):
        return None
    return float(struct.unpack(form, values)[0])


def _take_session(data: bytes, events: Events) -> None:
    for key, value in fields(data):
        if key == 3:  # the session's start
            for inner, entry in fields(inside(value)):
                if inner == 1:
                    name, setting = _entry(inside(entry))
                    events.hyperparameters[name] = setting
        elif key == 4:  # its end
            status = dict(fields(inside(value))).get(1, 0)
            events.failed = events.failed or status == FAILED


def _entry(entry: bytes) -> tuple[str, Setting]:
    name, value = "", b""
    for key, part in fields(entry):
        if key == 1:
            name = text(part)
        elif key == 2:
            value = inside(part)
    parts: dict[int, Field] = dict(fields(value))
    if 2 in parts:
        real = number(parts[2])
        # the format has floats alone; a whole one was an int in all likelihood
        return name, int(real) if real.is_integer() and abs(real) < 2**53 else real
    if 3 in parts:
        return name, text(parts[3])
    if 4 in parts:
        return name, bool(parts[4])
    return name, None
