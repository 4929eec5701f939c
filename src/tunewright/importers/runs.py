"""Every run of a source as it was recorded, before it has a round: unfinished runs included.

    for run in read_runs("runs"): run.name, run.points, run.configuration

What the path is goes by its content: event files, `.wandb` or `.swanlab` files, MLflow's folders or
tables, Trackio's database, or a table in CSV, JSON or JSON lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tunewright.design.ranges import Value
from tunewright.errors import NotFound, Unreadable
from tunewright.formats.event_file import EVENTS
from tunewright.importers import _mlflow, _swanlab, _tensorboard, _trackio, _wandb
from tunewright.importers._swanlab import read_run as read_swanlab
from tunewright.importers.files import (
    existing,
    files_below,
    read_only_database,
    reading,
    table_columns,
)
from tunewright.importers.foreign import (
    Points,
    PointsInOrder,
    flat_settings,
    number_or_none,
    parse_value,
    plain_name,
    whole_or_none,
)

Source = Literal["tensorboard", "wandb", "mlflow", "trackio", "swanlab", "table"]
_TABLES = (".csv", ".json", ".jsonl", ".parquet")
_NAMES = ("run", "trial", "name", "run_id", "trial_id")  # columns that tell runs apart
STEPS = ("step", "_step", "global_step", "iteration", "iter", "epoch", "it", "steps", "batch")
_LONG = ("metric", "value")  # columns of a table with one value to a row


@dataclass(frozen=True)
class RecordedRun:
    """One run: its name, its settings, and every curve it logged."""

    name: str
    points: Points
    configuration: Mapping[str, Value]
    state: str = ""  # what the source calls its end; empty: not recorded


def source_of(path: str | os.PathLike[str]) -> Source:
    """Which tool wrote what lies there; NotFound where nothing of a known kind does."""
    place = existing(path, "runs")
    if place.is_file():
        return _file_kind(place)
    for file in files_below(place):
        if EVENTS in file.name:
            return "tensorboard"
        if file.suffix == ".wandb" or file.name == "wandb-summary.json":
            return "wandb"
        if file.suffix == ".swanlab":
            return "swanlab"
        if file.name == "meta.yaml":
            return "mlflow"
        if file.suffix == ".db" and _file_kind(file) in ("trackio", "mlflow"):
            return _file_kind(file)
    if any(file.suffix.lower() in _TABLES for file in place.iterdir() if file.is_file()):
        return "table"
    raise NotFound("importers.no_runs", path=place)


def read_runs(path: str | os.PathLike[str], source: Source | None = None) -> list[RecordedRun]:
    """The runs of a source, in its order."""
    place = existing(path, "runs")
    kind = source or source_of(place)
    with reading(place, "recorded runs"):
        runs = list(_READERS[kind](place))
    if not runs:
        raise NotFound("importers.no_runs", path=place)
    return runs


def _file_kind(path: Path) -> Source:
    ending = path.suffix.lower()
    if EVENTS in path.name:
        return "tensorboard"
    if ending in _TABLES:
        return "table"
    if ending in (".wandb", ".swanlab"):
        return "wandb" if ending == ".wandb" else "swanlab"
    with path.open("rb") as file:
        if file.read(15) != b"SQLite format 3":
            raise NotFound("importers.no_runs", path=path)
    with read_only_database(path) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    if "experiments" in tables:
        return "mlflow"
    if {"metrics", "configs"} <= tables:
        return "trackio"
    raise NotFound("importers.no_runs", path=path)


def _tensorboard_runs(path: Path) -> Iterator[RecordedRun]:
    root = path.parent if path.is_file() else path
    read = _tensorboard._merge_sessions(_tensorboard._read(root))
    for name, folder in read.items():
        trial = _tensorboard._trial(name, folder, "")
        run_name = root.resolve().name if name == "." else name
        yield RecordedRun(run_name, trial.points, trial.configuration, trial.status)


def _wandb_runs(path: Path) -> Iterator[RecordedRun]:
    root = path.parent if path.is_file() else path
    for trial in _wandb._offline(root, "")[0]:
        yield RecordedRun(trial.name, trial.points, trial.configuration, trial.status)


def _mlflow_runs(path: Path) -> Iterator[RecordedRun]:
    databases = (
        [path] if path.is_file() else [file for file in files_below(path) if file.suffix == ".db"]
    )
    read = _mlflow._in_database(databases[0]) if databases else _mlflow._in_folder(path)
    for _, runs in read.values():
        for run in runs:
            settings = {
                plain_name(name): parse_value(value) for name, value in run.parameters.items()
            }
            yield RecordedRun(run.name, run.points.points(), settings, run.state.lower())


def _trackio_runs(path: Path) -> Iterator[RecordedRun]:
    files = [path] if path.is_file() else [p for p in files_below(path) if p.suffix == ".db"]
    for file in files:
        for run in _trackio._read(file):
            trial = _trackio._trial(run, "")
            yield RecordedRun(trial.name, trial.points, trial.configuration, trial.status)


def _swanlab_runs(path: Path) -> Iterator[RecordedRun]:
    logs = [path] if path.is_file() else [f for f in files_below(path) if f.suffix == ".swanlab"]
    for log in logs:
        run = read_swanlab(log)
        trial = _swanlab._trial(log, run, "")
        yield RecordedRun(trial.name, trial.points, trial.configuration, run.state)


def _table_runs(path: Path) -> Iterator[RecordedRun]:
    if path.is_file():
        yield from table_runs(table_columns(path), path.stem, path)
        return
    for file in sorted(path.iterdir()):
        if file.is_file() and file.suffix.lower() in _TABLES:
            yield from table_runs(table_columns(file), file.stem, file)


def table_runs(
    columns: Mapping[str, Sequence[Any]], name: str, path: object = ""
) -> Iterator[RecordedRun]:
    """The runs of a table: wide (a column per metric) or long (columns metric and value).

    Rows without a step column count as steps 1, 2, 3. Text in a column makes it no metric.

    >>> [run.points for run in table_runs({"loss": ["2", "1"], "note": ["a", "b"]}, "r")]
    [{'loss': ([1, 2], [2.0, 1.0])}]
    """
    if not columns:
        raise Unreadable("importers.empty_file", path=path)
    by_lower = {str(column).strip().lower(): column for column in columns}
    steps = next((by_lower[spelling] for spelling in STEPS if spelling in by_lower), None)
    who = next((by_lower[spelling] for spelling in _NAMES if spelling in by_lower), None)
    long = all(spelling in by_lower for spelling in _LONG)
    metric, value = (by_lower.get(spelling) for spelling in _LONG)
    runs: dict[str, PointsInOrder] = {}
    counted: dict[tuple[str, str], int] = {}
    rows = len(next(iter(columns.values())))
    for row in range(rows):
        run = name if who is None else str(columns[who][row])
        points = runs.setdefault(run, PointsInOrder(stepped=True))
        if long:
            cells = [(str(columns[metric][row]), columns[value][row])]  # type: ignore[index]
        else:
            cells = [(c, columns[c][row]) for c in columns if c not in (steps, who)]
        for column, cell in cells:
            number = number_or_none(cell) if cell not in (None, "") else None
            if number is None:
                continue
            count = counted[run, column] = counted.get((run, column), 0) + 1
            step = count if steps is None else whole_or_none(columns[steps][row])
            if step is None:  # an epoch with a fraction
                step = count
            points.add(column, step, number)
    for run, run_points in runs.items():
        yield RecordedRun(plain_name(run), run_points.points(), flat_settings({}))


_READERS = {
    "tensorboard": _tensorboard_runs,
    "wandb": _wandb_runs,
    "mlflow": _mlflow_runs,
    "trackio": _trackio_runs,
    "swanlab": _swanlab_runs,
    "table": _table_runs,
}
