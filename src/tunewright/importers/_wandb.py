"""Weights & Biases: the table of runs that its web page exports, and folders of offline runs.

The exported table has final values alone and mixes settings with metrics, so these are separated
by name. An offline run's `.wandb` file has its whole history. Where only the files beside it are
left, `config.yaml` and `wandb-summary.json` give the settings and the final values.

The file is a log of blocks of 32 KiB in LevelDB's form, with a separate head; a record is a
protocol-buffer message whose values are JSON texts.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import DesignError, MissingExtra, NotFound, Unreadable
from tunewright.formats.wire import Field, fields, inside, text, to_signed
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import (
    csv_columns,
    did_you_mean,
    existing,
    files_below,
    is_row_index,
    looks_like_metric,
    reading,
    text_in,
)
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    flat_settings,
    no_reason,
    number_or_none,
    parse_value,
    plain_name,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.results import Results
from tunewright.store.trial import Status

HEAD = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
BLOCK = 32768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4  # a record whole, or its parts
_LARGEST_RECORD = 64 * 2**20  # bytes
_DEEPEST = 20  # of nested values
_HISTORY, _SUMMARY, _CONFIG, _RUN, _EXIT = 2, 3, 5, 17, 18  # kinds of records

# columns of the exported table that are about the run itself
_ABOUT = {
    *("Name", "ID", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep", "Group"),
    *("Job Type", "Hostname", "Host", "Description", "Commit", "GitHub", "GPU Count", "GPU Type"),
    *("Updated", "End Time", "Start Time", "Sweep Name", "Project", "Entity", "Agent"),
}
_LARGEST_YAML = 2**24  # bytes of a config.yaml
_MOST_NODES = 100_000  # of a YAML document, every alias followed
_DEEPEST_YAML = 100
_ENDED = {"finished": "completed", "crashed": "failed", "failed": "failed", "killed": "failed"}


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
            if len(parts) + length <= _LARGEST_RECORD:
                parts += data
            if kind in (FULL, LAST):
                yield parts


def _take(record: bytes, run: OfflineRun) -> None:
    for kind, value in fields(record):
        if kind == _HISTORY:
            _take_history(inside(value), run)
        elif kind == _SUMMARY:
            for name, number in _updates(inside(value)):
                run.summary |= dict(_numbers(name, number))
        elif kind == _CONFIG:
            _take_config(inside(value), run)
        elif kind == _RUN:
            for key, part in fields(inside(value)):
                if key == 4:
                    _take_config(inside(part), run)
                elif key == 8:
                    run.name = text(part)
        elif kind == _EXIT:
            parts: dict[int, Field] = dict(fields(inside(value)))
            run.exit_code = to_signed(parts.get(1, 0))
            run.runtime_s = float(to_signed(parts.get(2, 0)))


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
            step = to_signed(dict(fields(inside(value))).get(1, 0))
    if step is None:
        step = whole_or_none(dict(items).get("_step", 0)) or 0
    for name, item in items:
        for metric, number in _numbers(name, item):
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
    if name.startswith("_") or depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if "_type" not in value:
            for key, entry in value.items():
                yield from _numbers(f"{name}.{key}", entry, depth + 1)
    elif not isinstance(value, str) or value in ("NaN", "Infinity", "-Infinity"):
        number = number_or_none(value)
        if number is not None:
            yield name, number


def wandb(
    path: str | os.PathLike[str],
    *,
    objective: Objective,
    metrics: Sequence[str] = (),
    **options: Unpack[Options],
) -> Results:
    """Results of W&B runs: an exported `.csv` file, or a folder with offline runs.

        tw.importers.wandb("wandb", objective=tw.minimize("val_loss"))

    Args:
        path: the exported file, or the folder with offline runs.
        objective: the metric that judges the runs.
        metrics: columns of a table that are metrics, besides those that read like one.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    place = existing(path, "W&B export")
    with reading(place, "an export or a folder of offline runs of W&B"):
        if place.is_dir():
            trials, notes = _offline(place, objective.metric)
        else:
            trials, notes = _from_export(place, objective, metrics)
    name = plain_name(place.resolve().stem)
    origin = f"the W&B {'folder' if place.is_dir() else 'export'} {plain_name(place.name)}"
    source = Source(origin, name, tuple(trials), notes=tuple(notes))
    return take_over(source, objective, options)


# the exported table
def _from_export(
    path: Path, objective: Objective, metrics: Sequence[str]
) -> tuple[list[ForeignTrial], list[Message]]:
    table = csv_columns(path)
    named = {objective.metric, *objective.subject_to, *metrics}
    for name in sorted(named - set(table)):
        raise DesignError(
            "importers.wandb_column_missing", name=name, hint=did_you_mean(name, table)
        )
    measured = [n for n in table if n in named or (looks_like_metric(n) and n not in _ABOUT)]
    not_set = {*_ABOUT, *measured, *(n for n in table if n.startswith("_"))}
    settings = [n for n in table if n not in not_set and not is_row_index(n, table[n])]
    trials, unfinished = [], 0
    for row in range(len(next(iter(table.values())))):
        state = table["State"][row].lower() if "State" in table else "finished"
        if state not in _ENDED:
            unfinished += 1
            continue
        step = whole_or_none(table["_step"][row]) if "_step" in table else None
        points = PointsInOrder()
        for name in measured:
            number = number_or_none(table[name][row])
            if number is not None:
                points.add(name, 1 if step is None else step, number)
        configuration = {n: parse_value(table[n][row]) for n in settings if table[n][row].strip()}
        label = table["Name"][row] if "Name" in table else str(row)
        seconds = number_or_none(table["Runtime"][row]) if "Runtime" in table else None
        trials.append(_trial(label, configuration, state, points, seconds or 0.0, objective.metric))
    notes = [Message("imported.final_values")]
    if unfinished:
        notes.append(Message("imported.unfinished", {"count": unfinished}))
    return trials, notes


def _trial(
    name: str,
    configuration: dict[str, Any],
    state: str,
    points: PointsInOrder,
    seconds: float,
    metric: str,
) -> ForeignTrial:
    status: Status = "completed" if _ENDED[state] == "completed" else "failed"
    reason: Message | None = None
    if status == "failed":
        diverged = first_non_finite(points.points(), [metric])
        reason = diverged or no_reason("W&B", state)
        status = "infeasible" if diverged else status
    return ForeignTrial(
        name, flat_settings(configuration), status, reason, points.points(), max(seconds, 0.0)
    )


# folders of offline runs
def _offline(root: Path, metric: str) -> tuple[list[ForeignTrial], list[Message]]:
    files = list(files_below(root))
    logs = [path for path in files if path.suffix == ".wandb"]
    covered = {path.parent for path in logs}
    bare = [
        path.parent
        for path in files
        if path.name == "wandb-summary.json" and path.parent.parent not in covered
    ]
    if not logs and not bare:
        raise NotFound("importers.wandb_no_run", folder=root)
    trials, torn = [], 0
    for path in logs:
        run = read_run(path)
        torn += run.torn
        # what the sink of this package wrote of a trial is no metric of it
        logged = {n: v for n, v in run.summary.items() if not n.startswith("tunewright.")}
        run.points.add_at_end(logged.items())
        trials.append(
            _trial(
                run.name or path.stem, run.config, _state(run), run.points, run.runtime_s, metric
            )
        )
    for folder in bare:
        trials.append(_from_files(folder, metric))
    return trials, list(_notes(torn, len(bare)))


def _state(run: OfflineRun) -> str:
    if run.exit_code is None:
        return "crashed"  # killed, or still running: W&B shows it so too
    return "finished" if run.exit_code == 0 else "failed"


def _from_files(folder: Path, metric: str) -> ForeignTrial:
    """The settings and final values, where the history is gone."""
    points = PointsInOrder()
    summary = plain_json.read_object(folder / "wandb-summary.json")
    step = whole_or_none(summary.get("_step")) or 1
    for name, value in summary.items():
        number = number_or_none(value)
        if number is not None and not name.startswith("_"):
            points.add(name, step, number)
    config = folder / "config.yaml"
    settings = read_yaml(config) if config.is_file() else {}
    plain = {
        name: setting["value"] if isinstance(setting, dict) and "value" in setting else setting
        for name, setting in settings.items()
        if name not in ("wandb_version", "_wandb")
    }
    seconds = number_or_none(summary.get("_runtime")) or 0.0
    return _trial(folder.parent.name, plain, "finished", points, seconds, metric)


def read_yaml(path: Path) -> dict[str, Any]:
    """A small YAML file of settings; Unreadable where it is no such file, or endless."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("importers.yaml_missing", path=path) from error
    try:
        loader = yaml.SafeLoader(text_in(path, _LARGEST_YAML))
        root = loader.get_single_node()
        _refuse_aliases(root, path)
        document = loader.construct_document(root) if root is not None else {}
    except (yaml.YAMLError, ArithmeticError, LookupError, RecursionError, TypeError) as error:
        raise Unreadable("importers.not_yaml", line=_line(error), path=str(path)) from None
    except (AttributeError, ValueError) as error:  # dates and numbers that are none
        raise Unreadable("importers.not_yaml", line=_line(error), path=str(path)) from None
    return document if isinstance(document, dict) else {}


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _refuse_aliases(root: Any, path: Path) -> None:
    """Refuse a document that aliases make endless, or far larger than its text."""
    waiting = [(root, 0)]
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node, depth = waiting.pop()
        if depth > _DEEPEST_YAML:
            break
        for part in node.value if isinstance(getattr(node, "value", None), list) else ():
            nodes = part if isinstance(part, tuple) else (part,)
            waiting += [(inner, depth + 1) for inner in nodes]
    raise Unreadable(
        "importers.yaml_too_large",
        most_nodes=_MOST_NODES,
        deepest_yaml=_DEEPEST_YAML,
        path=str(path),
    )


def _notes(torn: int, bare: int) -> Iterator[Message]:
    if torn:
        yield Message("imported.torn_files", {"count": torn})
    if bare:
        yield Message("imported.no_curves", {"count": bare})
