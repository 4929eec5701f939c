"""SwanLab: folders of offline runs (`swanlog/`), read without SwanLab.

`success` is completed; `crashed` and `aborted` are failed, infeasible where the objective was not
finite; a run without an end is left out. The configuration is `files/config.yaml` of each run.

It is a log of blocks in the same form as W&B's, under another head; records are protocol-buffer
messages. Only the format of version 2 is known, which SwanLab 0.8 and later write.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import NotFound, Unreadable
from tunewright.formats.wire import Field, fields, inside, number, text, to_signed
from tunewright.importers._trackio import OURS, status_of
from tunewright.importers._wandb import read_yaml, records
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import existing, files_below, reading
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    flat_settings,
    plain_name,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store.results import Results

HEAD = struct.pack("<4sHB", b":SWL", 0xE1D6, 2)
_START, _FINISH, _SCALAR = 10, 11, 13  # kinds of records
_STATES = {0: "running", 1: "success", 2: "crashed", 3: "aborted"}
_ENDED = {"success": "completed", "crashed": "failed", "aborted": "failed"}


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
                if kind == _START:
                    _take_start(dict(fields(inside(value))), run)
                elif kind == _FINISH:
                    _take_finish(dict(fields(inside(value))), run)
                elif kind == _SCALAR:
                    _take_scalar(dict(fields(inside(value))), run)
    except Unreadable:
        run.torn = True
    return run


def _take_start(record: dict[int, Field], run: SwanLabRun) -> None:
    run.project, run.name, run.group = (text(record.get(key, b"")) for key in (1, 4, 7))
    run.began_s = _seconds(record.get(12))


def _take_finish(record: dict[int, Field], run: SwanLabRun) -> None:
    run.state = _STATES.get(to_signed(record.get(1, 0)), "crashed")
    run.error = text(record.get(2, b""))
    run.ended_s = _seconds(record.get(3))


def _take_scalar(record: dict[int, Field], run: SwanLabRun) -> None:
    name, step = text(record.get(1, b"")), to_signed(record.get(2, 0))
    value = dict(fields(inside(record.get(5, b""))))
    # SwanLab's own measurements of the machine begin with two underscores
    if name and not name.startswith("__"):
        run.points.add(name, step, number(value[1]) if 1 in value else 0.0)


def _seconds(value: Field | None) -> float | None:
    if value is None:
        return None
    parts = dict(fields(inside(value)))
    return to_signed(parts.get(1, 0)) + to_signed(parts.get(2, 0)) / 1e9


def swanlab(
    path: str | os.PathLike[str],
    *,
    objective: Objective,
    **options: Unpack[Options],
) -> Results:
    """Results of SwanLab's offline runs: a folder such as `swanlog`, or one `.swanlab` file.

        tw.importers.swanlab("swanlog", objective=tw.minimize("val_loss"))

    Args:
        path: the folder of the runs, or one `.swanlab` file.
        objective: the metric that judges the runs.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    folder = existing(path, "SwanLab folder")
    with reading(folder, "a folder of offline runs of SwanLab"):
        logs = [folder] if folder.is_file() else [f for f in files_below(folder) if _is_log(f)]
        runs = [(log, read_run(log)) for log in logs]
        if not runs:
            raise NotFound("importers.swanlab_no_run", folder=folder)
        ended = [(log, run) for log, run in runs if run.state != "running"]
        trials = tuple(_trial(log, run, objective.metric) for log, run in ended)
    notes = []
    if len(ended) < len(runs):
        notes.append(Message("imported.unfinished", {"count": len(runs) - len(ended)}))
    if torn := sum(run.torn for _, run in ended):
        notes.append(Message("imported.torn_runs", {"count": torn}))
    projects = sorted({run.project for _, run in ended if run.project})
    name = plain_name(projects[0] if len(projects) == 1 else folder.resolve().stem)
    origin = f"the SwanLab folder {plain_name(folder.name)}"
    return take_over(Source(origin, name, trials, notes=tuple(notes)), objective, options)


def _is_log(path: Path) -> bool:
    return path.suffix == ".swanlab"


def _trial(log: Path, run: SwanLabRun, metric: str) -> ForeignTrial:
    config = log.parent / "files" / "config.yaml"
    settings = _plain(read_yaml(config)) if config.is_file() else {}
    ours = settings.pop(OURS, None)
    known = ours if isinstance(ours, dict) else {}
    points = run.points.points()
    state = known.get("status", _ENDED.get(run.state))
    status, reason = status_of(state, points, metric, "SwanLab")
    lasted = (run.ended_s or 0.0) - (run.began_s or 0.0) if run.began_s and run.ended_s else 0.0
    return ForeignTrial(
        name=run.name or log.stem,
        configuration=flat_settings(settings),
        status=status,
        reason=reason,
        points=points,
        seconds=max(lasted, 0.0),
        seed=whole_or_none(known.get("seed")),
        detail=run.error,
    )


def _plain(entries: Mapping[str, Any]) -> dict[str, Any]:
    """SwanLab writes each entry as a value with its place and description."""
    return {
        str(name): entry["value"] if isinstance(entry, dict) and "value" in entry else entry
        for name, entry in entries.items()
    }
