"""MLflow: the folder `mlruns/` and the SQLite file of a tracking server, read without MLflow.

A run is a trial. FINISHED is completed, FAILED and KILLED are failed, the rest is left out, as are
deleted runs. MLflow keeps parameters as text, so numbers are recognised by their looks.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import NotFound, Unreadable
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import (
    did_you_mean,
    existing,
    files_below,
    read_only_database,
    reading,
    text_in,
)
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    no_reason,
    number_or_none,
    parse_value,
    plain_name,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Status

# the file store writes the number, the database the word
_STATES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_LARGEST_META = 2**20  # bytes of a meta.yaml, a parameter or a tag


@dataclass
class _Run:
    name: str
    state: str = ""
    started_ms: float | None = None
    ended_ms: float | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    points: PointsInOrder = field(default_factory=PointsInOrder)


def mlflow(
    address: str | os.PathLike[str],
    experiment: str | None = None,
    *,
    objective: Objective,
    **options: Unpack[Options],
) -> Results:
    """Results of an MLflow experiment: a folder such as `mlruns`, or a file such as `mlflow.db`.

        tw.importers.mlflow("mlruns", "mnist", objective=tw.minimize("val_loss"))

    Args:
        address: the folder or the database file.
        experiment: its name or id; may be left out where only one has runs.
        objective: the metric that judges the runs.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    path = existing(str(address).removeprefix("sqlite:///").removeprefix("file:"), "MLflow store")
    with reading(path, "a folder or database of MLflow"):
        experiments = _in_folder(path) if path.is_dir() else _in_database(path)
    name = _choose_experiment(experiments, experiment, path)
    runs = experiments[name][1]
    ended = [run for run in runs if run.state in ("FINISHED", "FAILED", "KILLED")]
    left = len(runs) - len(ended)
    source = Source(
        origin=f"the MLflow experiment {plain_name(name)!r}",
        name=plain_name(name),
        trials=tuple(_trial(run, objective.metric) for run in ended),
        notes=(Message("imported.unfinished", {"count": left}),) if left else (),
    )
    return take_over(source, objective, options)


def _choose_experiment(
    experiments: dict[str, tuple[str, list[_Run]]], wanted: str | None, path: Path
) -> str:
    busy = [name for name, (_, runs) in experiments.items() if runs]
    if wanted is None:
        if len(busy) == 1:
            return busy[0]
        if not busy:
            raise NotFound("importers.mlflow_no_runs", path=path)
        raise NotFound(
            "importers.mlflow_several_experiments",
            path=path,
            count=len(busy),
            experiments=", ".join(busy[:12]),
        )
    for name, (identity, _) in experiments.items():
        if wanted in (name, identity):
            return name
    raise NotFound(
        "importers.mlflow_no_experiment",
        path=path,
        name=wanted,
        hint=did_you_mean(wanted, experiments),
    )


def _trial(run: _Run, metric: str) -> ForeignTrial:
    points = run.points.points()
    status: Status = "completed" if run.state == "FINISHED" else "failed"
    reason: Message | None = None
    if status == "failed":
        diverged = first_non_finite(points, [metric])
        status = "infeasible" if diverged else status
        reason = diverged or no_reason("MLflow", run.state.lower())
    known = run.started_ms is not None and run.ended_ms is not None
    lasted = (run.ended_ms or 0.0) - (run.started_ms or 0.0) if known else 0.0
    return ForeignTrial(
        name=run.name,
        configuration={
            plain_name(name): parse_value(value) for name, value in run.parameters.items()
        },
        status=status,
        reason=reason,
        points=points,
        seconds=max(lasted / 1000, 0.0),
    )


# the folder


def _in_folder(root: Path) -> dict[str, tuple[str, list[_Run]]]:
    experiments: dict[str, tuple[str, list[_Run]]] = {}
    runs: dict[Path, _Run] = {}
    for path in files_below(root):
        parts = path.relative_to(root).parts
        if parts[0] in (".trash", "models"):
            continue
        if len(parts) == 2 and parts[1] == "meta.yaml":
            meta = flat_yaml(text_in(path, _LARGEST_META))
            name = meta.get("name") or parts[0]
            name = name if name not in experiments else f"{name} ({parts[0]})"
            experiments[name] = (parts[0], [])
        elif len(parts) == 3 and parts[2] == "meta.yaml":
            run = _meta(parts[1], flat_yaml(text_in(path, _LARGEST_META)))
            if run is not None:
                runs[path.parent] = run
    for folder, run in sorted(runs.items(), key=lambda item: item[1].started_ms or 0.0):
        _read_run(folder, run)
        for identity, experiment in experiments.values():
            if identity == folder.parent.name:
                experiment.append(run)
    return experiments


def _meta(folder: str, meta: dict[str, str]) -> _Run | None:
    if meta.get("lifecycle_stage", "active") != "active":
        return None
    state = meta.get("status", "")
    return _Run(
        name=meta.get("run_name") or folder,
        state=_STATES.get(state, state),
        started_ms=number_or_none(meta.get("start_time")),
        ended_ms=number_or_none(meta.get("end_time")),
    )


def _read_run(folder: Path, run: _Run) -> None:
    """Parameters are a file each; metrics are a file of `timestamp value step` lines each."""
    for path in files_below(folder):
        kind, *rest = path.relative_to(folder).parts
        name = "/".join(rest)  # a slash in a name is a folder there
        if kind == "params" and rest:
            run.parameters[name] = text_in(path, _LARGEST_META)
        elif kind == "metrics" and rest:
            for line in text_in(path).splitlines():
                words = line.split()
                if len(words) >= 2 and (value := number_or_none(words[1])) is not None:
                    run.points.add(
                        name, whole_or_none(words[2] if len(words) > 2 else 0) or 0, value
                    )


def flat_yaml(text: str) -> dict[str, str]:
    """The top-level `key: value` lines of a YAML file, as MLflow's own are; nested ones are not.

    >>> flat_yaml("name: 'it''s mine'\\nend_time: null\\ntags: []\\n")
    {'name': "it's mine", 'tags': '[]'}
    """
    entries = {}
    for line in text.splitlines():
        key, divider, value = line.partition(":")
        value = value.strip()
        if not divider or not key or key[0] in " #-" or value in ("", "null", "~"):
            continue
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1].replace("''", "'")
        entries[key.strip()] = value
    return entries


# the database


def _in_database(path: Path) -> dict[str, tuple[str, list[_Run]]]:
    with path.open("rb") as file:
        if file.read(15) != b"SQLite format 3":
            raise Unreadable("importers.mlflow_not_a_store", path=path)
    try:
        with read_only_database(path) as database:
            return _read_database(database)
    except sqlite3.Error as error:
        raise Unreadable("importers.mlflow_unreadable", path=path, error=error) from error


def _read_database(database: sqlite3.Connection) -> dict[str, tuple[str, list[_Run]]]:
    experiments: dict[str, tuple[str, list[_Run]]] = {}
    names: dict[Any, str] = {}
    for identity, name in database.execute("SELECT experiment_id, name FROM experiments"):
        names[identity] = str(name)
        experiments[str(name)] = (str(identity), [])
    runs: dict[str, _Run] = {}
    query = (
        "SELECT run_uuid, name, status, start_time, end_time, experiment_id FROM runs "
        "WHERE lifecycle_stage = 'active' ORDER BY start_time, run_uuid"
    )
    for key, name, state, started, ended, experiment in database.execute(query):
        run = _Run(str(name or key), str(state), number_or_none(started), number_or_none(ended))
        runs[key] = run
        if experiment in names:
            experiments[names[experiment]][1].append(run)
    for key, name, value in database.execute("SELECT run_uuid, key, value FROM params"):
        if key in runs:
            runs[key].parameters[str(name)] = str(value)
    for key, name, step, number in _points(database):
        if key in runs:
            runs[key].points.add(name, step, number)
    return experiments


def _points(database: sqlite3.Connection) -> Iterator[tuple[str, str, int, float]]:
    query = 'SELECT run_uuid, "key", step, value, is_nan FROM metrics ORDER BY step, "timestamp"'
    rows: Sequence[Any]
    for rows in database.execute(query):
        key, name, step, value, is_nan = rows
        number = float("nan") if is_nan else number_or_none(value)
        if number is not None:
            # the database cannot hold infinities: MLflow puts the largest float in their place
            limit = 1.7976931348623157e308
            number = float("inf") * (1 if number > 0 else -1) if abs(number) >= limit else number
            yield key, str(name), whole_or_none(step) or 0, number
