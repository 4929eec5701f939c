"""Measurements in a file that grows while a program runs: CSV, TSV, JSON lines, TensorBoard events.

    [workload.read]
    file = "lightning_logs/*/metrics.csv"   # below the trial's folder
    step = "epoch"                          # the column that counts; known names are found
    step_times = 100                        # an epoch is 100 steps

    file = "**/events.out.tfevents.*"       # every event file; a tag is a metric

A last line without its end is read when it is whole. A JSON history (trainer_state.json) is read
anew each time. A file that was truncated or written anew is
read from its beginning, and points that were passed on already are left out. Steps never go back:
a row behind a later one is left out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tunewright.errors import DesignError
from tunewright.execution.line_patterns import Reading, number
from tunewright.formats.event_file import read_events, tag_prefix
from tunewright.measured import Measured, read
from tunewright.messages import Message

STEPS = ("step", "global_step", "_step", "steps", "iter", "iteration", "it", "update", "epoch")
KINDS = {".csv": ",", ".tsv": "\t", ".jsonl": "", ".ndjson": "", ".json": "", ".txt": ","}
LARGEST = 256 * 2**20  # bytes of a file that is read
HEAD = 256  # bytes that tell whether a file was written anew
EVENTS = "tfevents"  # in the name of TensorBoard's event files
_HISTORY = "log_history"  # of trainer_state.json: its rows


@dataclass(frozen=True)
class GrowingFile:
    """Which file of a trial's folder has the measurements."""

    path: str  # below the folder; `*` matches a part of a name, the newest file counts
    step: str = ""  # the column that counts; empty: the first known name
    step_times: int = 1  # steps in one of its units


def problems(file: GrowingFile, has_lines: bool) -> Iterator[Message]:
    """What is wrong with a declaration, every problem at once."""
    place = PurePosixPath(str(file.path))
    if not isinstance(file.path, str) or place.is_absolute() or ".." in place.parts:
        yield Message("read.bad_file", {"file": file.path})
    elif place.suffix not in KINDS and EVENTS not in place.name:
        yield Message("read.unknown_kind", {"file": file.path, "known": sorted(KINDS)})
    if not isinstance(file.step, str):
        yield Message("read.bad_step", {"step": file.step})
    if type(file.step_times) is not int or file.step_times < 1:
        yield Message("read.bad_step_times", {"step_times": file.step_times})
    if has_lines:
        yield Message("read.file_and_line", {"file": file.path})


class FileReader:
    """Follows the file of one attempt; what stood there before it began is not read again."""

    def __init__(self, file: GrowingFile, folder: Path) -> None:
        """Nothing read yet."""
        self._file, self._folder = file, folder
        self._at = 0
        self._head = b""
        self._path: Path | None = None
        self._columns: list[str] = []
        self._seen: dict[str, int] = {}  # the last step of each metric that was passed on
        self._stamp: tuple[int, int] = (0, 0)
        self._last = 0
        self._ends: dict[Path, int] = {}  # of event files: how far each was read

    def read(self) -> list[Reading]:
        """The measurements that have come since the last call."""
        if EVENTS in PurePosixPath(self._file.path).name:
            return [
                reading for row in self._events() if (reading := self._reading(row)) is not None
            ]
        try:
            path = self._newest()
            if path is None:
                return []
            state = path.stat()
            stamp = (state.st_size, state.st_mtime_ns)
            if (path == self._path and stamp == self._stamp) or state.st_size > LARGEST:
                return []
            if path != self._path:
                self._path, self._at, self._head = path, 0, b""
            whole = path.suffix == ".json"
            rows = self._whole(path) if whole else self._new_rows(path, state.st_size)
            self._stamp = stamp
        except OSError:
            return []  # being replaced: the next look finds it
        return [reading for row in rows if (reading := self._reading(row)) is not None]

    def _events(self) -> list[Mapping[str, Any]]:
        """The scalars that event files have gained, a row per step; a run may write several."""
        rows: dict[int, dict[str, Any]] = {}
        for path in sorted(self._folder.glob(self._file.path)):
            try:
                size, start = path.stat().st_size, self._ends.get(path, 0)
                if size == start or size > LARGEST:
                    continue
                events = read_events(path, start if size > start else 0)
            except OSError:
                continue
            self._ends[path] = events.end
            prefix = tag_prefix(path.parent.name)
            for tag, step, value in events.scalars:
                rows.setdefault(step, {})[prefix + tag] = value
        known = self._file.step or STEPS[0]
        return [{known: step, **rows[step]} for step in sorted(rows)]

    def _newest(self) -> Path | None:
        files = [path for path in self._folder.glob(self._file.path) if path.is_file()]
        return max(files, key=lambda path: path.stat().st_mtime_ns, default=None)

    def _whole(self, path: Path) -> list[Mapping[str, Any]]:
        """The rows of a document that is rewritten each time; none while it is torn."""
        try:
            data = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            return []
        rows = data.get(_HISTORY, data.get("history")) if isinstance(data, dict) else data
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def _new_rows(self, path: Path, size: int) -> list[Mapping[str, Any]]:
        """The rows of lines that are complete now."""
        with path.open("rb") as file:
            head = file.read(HEAD)
            if size < self._at or not head.startswith(self._head):
                self._at, self._columns = 0, []  # truncated, or written anew
            file.seek(self._at)
            data = file.read()
            if self._at == 0:
                self._columns = []
            end = data.rfind(b"\n") + 1
            self._at += end
            self._head = head[: min(self._at, HEAD)]
        lines = data[:end].decode("utf-8-sig", "replace").splitlines()
        divider = KINDS[path.suffix]
        return list(self._rows(lines, divider) if divider else _json_rows(lines))

    def _rows(self, lines: list[str], divider: str) -> Iterator[Mapping[str, Any]]:
        for cells in csv.reader(lines, delimiter=divider):
            names = [cell.strip() for cell in cells]
            if not self._columns:
                self._columns = names
            elif names != self._columns and len(names) <= len(self._columns):
                yield dict(zip(self._columns, names, strict=False))

    def _reading(self, row: Mapping[str, Any]) -> Reading | None:
        known = [self._file.step] if self._file.step else [n for n in STEPS if n in row]
        counted = _number(row.get(known[0])) if known else None
        if counted is None or counted < 0 or counted * self._file.step_times % 1 != 0:
            return None
        step = int(counted * self._file.step_times)
        metrics: dict[str, float | Measured] = {}
        for name, given in row.items():
            value = _value(given) if name not in known[:1] and name else None
            if value is not None and step > self._seen.get(name, -1):
                metrics[name] = value
        if not metrics or step < self._last:
            return None
        self._seen |= dict.fromkeys(metrics, step)
        self._last = step
        return Reading(step, metrics)


def _json_rows(lines: list[str]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _value(given: Any) -> float | Measured | None:
    """A number, or a measurement with its uncertainty as JSON lines have it; None for others."""
    if isinstance(given, dict):
        with suppress(DesignError):
            known = read(given)
            return known if isinstance(known, Measured) else None
        return None
    return _number(given)


def _number(given: Any) -> float | None:
    """A number of a cell; None for text, an empty cell, a truth value or anything else.

    >>> [_number(cell) for cell in ("0.5", "", "adam", 3, True, None)]
    [0.5, None, None, 3.0, None, None]
    """
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int | float):
        return float(given)
    return number(given) if isinstance(given, str) and given.strip() else None
