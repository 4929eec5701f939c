"""The `.swanlab` file of an offline run: its name, metrics and end, read without SwanLab.

It is a log of blocks in the same form as W&B's, under another head; records are protocol-buffer
messages. Only the format of version 2 is known, which SwanLab 0.8 and later write.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from tunewright.errors import Unreadable
from tunewright.formats.wire import Field, fields, inside, number, signed, text
from tunewright.importers.foreign import PointsInOrder
from tunewright.importers.wandb_file import records

HEAD = struct.pack("<4sHB", b":SWL", 0xE1D6, 2)
START, FINISH, SCALAR = 10, 11, 13  # kinds of records
STATES = {0: "running", 1: "success", 2: "crashed", 3: "aborted"}


@dataclass
class SwanLabRun:
    """What a run recorded."""

    name: str = ""
    project: str = ""
    group: str = ""
    state: str = "running"  # as SwanLab calls it; running: no end was recorded
    error: str = ""
    points: PointsInOrder = field(default_factory=PointsInOrder)
    began_s: float | None = None
    ended_s: float | None = None
    torn: bool = False


def read_run(path: Path) -> SwanLabRun:
    """The run in a `.swanlab` file, as far as the file is whole."""
    run = SwanLabRun()
    try:
        for record in records(path, HEAD):
            for kind, value in fields(record):
                if kind == START:
                    _take_start(dict(fields(inside(value))), run)
                elif kind == FINISH:
                    _take_finish(dict(fields(inside(value))), run)
                elif kind == SCALAR:
                    _take_scalar(dict(fields(inside(value))), run)
    except Unreadable:
        run.torn = True
    return run


def _take_start(own: dict[int, Field], run: SwanLabRun) -> None:
    run.project, run.name, run.group = (text(own.get(key, b"")) for key in (1, 4, 7))
    run.began_s = _seconds(own.get(12))


def _take_finish(own: dict[int, Field], run: SwanLabRun) -> None:
    run.state = STATES.get(signed(own.get(1, 0)), "crashed")
    run.error = text(own.get(2, b""))
    run.ended_s = _seconds(own.get(3))


def _take_scalar(own: dict[int, Field], run: SwanLabRun) -> None:
    name, step = text(own.get(1, b"")), signed(own.get(2, 0))
    value = dict(fields(inside(own.get(5, b""))))
    # SwanLab's own measurements of the machine begin with two underscores
    if name and not name.startswith("__"):
        run.points.add(name, step, number(value[1]) if 1 in value else 0.0)


def _seconds(value: Field | None) -> float | None:
    if value is None:
        return None
    parts = dict(fields(inside(value)))
    return signed(parts.get(1, 0)) + signed(parts.get(2, 0)) / 1e9
