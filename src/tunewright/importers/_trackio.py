"""Trackio: the SQLite files of its local projects, read without Trackio.

A run is a trial. Trackio keeps no status: a run is completed unless its objective was not finite,
or the sink of this package wrote it, which adds the trial's own status to the configuration.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack, get_args

from tunewright.design.objective import Objective
from tunewright.errors import NotFound, Unreadable
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import (
    did_you_mean,
    existing,
    files_below,
    read_only_database,
    reading,
)
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    flat_settings,
    no_reason,
    number_or_none,
    plain_name,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Status

OURS = "tunewright"  # the entry of a configuration that the sink of this package adds
# Trackio writes what is not finite as text
_SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@dataclass
class _Run:
    name: str
    config: dict[str, Any] = field(default_factory=dict)
    points: PointsInOrder = field(default_factory=PointsInOrder)
    first: str = ""  # the times of the first and the last point
    last: str = ""


def trackio(
    path: str | os.PathLike[str],
    project: str | None = None,
    *,
    objective: Objective,
    **options: Unpack[Options],
) -> Results:
    """Results of a Trackio project: its `.db` file, or the folder that holds the projects.

    Trackio's own folder is `TRACKIO_DIR`, or `~/.cache/huggingface/trackio`.

        tw.importers.trackio("trackio", "mnist", objective=tw.minimize("val_loss"))

    Args:
        path: the `.db` file of a project, or the folder that holds the projects.
        project: its name; may be left out where the folder has one.
        objective: the metric that judges the runs.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    place = existing(path, "Trackio project")
    database = _choose_project(place, project) if place.is_dir() else place
    with reading(database, "a project of Trackio"):
        runs = _read(database)
    name = plain_name(database.stem)
    ended = [run for run in runs if _ours(run).get("status") not in ("pending", "running")]
    notes = []
    if len(ended) < len(runs):
        notes.append(Message("imported.unfinished", {"count": len(runs) - len(ended)}))
    if assumed := sum(not _ours(run) for run in ended):
        notes.append(Message("imported.no_status", {"tool": "Trackio", "count": assumed}))
    source = Source(
        origin=f"the Trackio project {name!r}",
        name=name,
        trials=tuple(_trial(run, objective.metric) for run in ended),
        notes=tuple(notes),
    )
    return take_over(source, objective, options)


def _choose_project(folder: Path, project: str | None) -> Path:
    known = {file.stem: file for file in files_below(folder) if file.suffix == ".db"}
    if project is None and len(known) == 1:
        return next(iter(known.values()))
    if project in known:
        return known[project]
    if not known:
        raise NotFound("importers.trackio_no_project", folder=folder)
    hint = did_you_mean(project, known) if project is not None else ""
    names = ", ".join(sorted(known)[:12])
    raise NotFound("importers.trackio_which_project", folder=folder, projects=names, hint=hint)


def _read(path: Path) -> list[_Run]:
    with path.open("rb") as file:
        if file.read(15) != b"SQLite format 3":
            raise Unreadable("importers.trackio_not_a_project", path=path)
    try:
        with read_only_database(path) as database:
            return _runs(database)
    except sqlite3.Error as error:
        raise Unreadable("importers.trackio_unreadable", path=path, error=error) from error


def _runs(database: sqlite3.Connection) -> list[_Run]:
    """The runs in the order of their first points; older versions have no `run_id`."""
    columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    key = "run_id" if "run_id" in columns else "run_name"
    runs: dict[str, _Run] = {}
    query = f"SELECT {key}, run_name, step, metrics, timestamp FROM metrics ORDER BY id"
    for identity, name, step, metrics, at in database.execute(query):
        run = runs.setdefault(str(identity), _Run(str(name)))
        run.first, run.last = run.first or str(at), str(at)
        for metric, value in _numbers(_object(metrics)):
            run.points.add(metric, whole_or_none(step) or 0, value)
    for identity, config in database.execute(f"SELECT {key}, config FROM configs ORDER BY id"):
        if str(identity) in runs:
            runs[str(identity)].config = _object(config)
    return list(runs.values())


def _object(stored: Any) -> dict[str, Any]:
    """A JSON object that is stored as text or as bytes."""
    try:
        content = json.loads(stored)
    except (TypeError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of a row; tables, pictures and text are passed over."""
    for name, value in metrics.items():
        number = _SPECIAL.get(value) if isinstance(value, str) else number_or_none(value)
        if number is not None:
            yield name, number


def _ours(run: _Run) -> dict[str, Any]:
    """What the sink of this package wrote about a trial; empty for a run of others."""
    ours = run.config.get(OURS)
    return ours if isinstance(ours, dict) else {}


def _trial(run: _Run, metric: str) -> ForeignTrial:
    # names with an underscore in front are Trackio's: who, when, the group
    settings = {n: v for n, v in run.config.items() if not n.startswith("_")}
    settings.pop(OURS, None)
    known = _ours(run)
    points = run.points.points()
    status, reason = status_of(known.get("status"), points, metric, "Trackio")
    seed = whole_or_none(known.get("seed"))
    return ForeignTrial(
        name=run.name,
        configuration=flat_settings(settings),
        status=status,
        reason=reason,
        points=points,
        seconds=_seconds(run.first, run.last),
        seed=seed,
    )


def status_of(state: Any, points: Any, metric: str, tool: str) -> tuple[Status, Message | None]:
    """The status that a run's own words give it, and the reason; without words it is completed.

    >>> status_of("failed", {}, "loss", "Trackio")[0], status_of(None, {}, "loss", "Trackio")
    ('failed', ('completed', None))
    """
    status: Status = state if state in get_args(Status) else "completed"
    if status == "completed":
        return status, None
    diverged = first_non_finite(points, [metric])
    if status in ("failed", "infeasible") and diverged is not None:
        return "infeasible", diverged
    return status, no_reason(tool, status)


def _seconds(first: str, last: str) -> float:
    try:
        return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
