"""SwanLab: folders of offline runs (`swanlog/`), read without SwanLab.

`success` is completed; `crashed` and `aborted` are failed, infeasible where the objective was not
finite; a run without an end is left out. The configuration is `files/config.yaml` of each run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import NotFound
from tunewright.importers._trackio import OURS, ended_as
from tunewright.importers._wandb import read_yaml
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import existing, files_below, reading
from tunewright.importers.foreign import (
    ForeignTrial,
    Source,
    flattened,
    plain_name,
    whole_or_none,
)
from tunewright.importers.swanlab_file import SwanLabRun, read_run
from tunewright.messages import Message
from tunewright.store.results import Results

ENDED = {"success": "completed", "crashed": "failed", "aborted": "failed"}


def swanlab(
    path: str | os.PathLike[str],
    *,
    objective: Objective,
    **options: Unpack[Options],
) -> Results:
    """Results of SwanLab's offline runs: a folder such as `swanlog`, or one `.swanlab` file."""
    found = existing(path, "SwanLab folder")
    with reading(found, "a folder of offline runs of SwanLab"):
        logs = [found] if found.is_file() else [f for f in files_below(found) if _is_log(f)]
        runs = [(log, read_run(log)) for log in logs]
        if not runs:
            raise NotFound("importers.swanlab_no_run", folder=found)
        ended = [(log, run) for log, run in runs if run.state != "running"]
        trials = tuple(_trial(log, run, objective.metric) for log, run in ended)
    notes = []
    if len(ended) < len(runs):
        notes.append(Message("imported.unfinished", {"count": len(runs) - len(ended)}))
    if torn := sum(run.torn for _, run in ended):
        notes.append(Message("imported.torn_runs", {"count": torn}))
    projects = sorted({run.project for _, run in ended if run.project})
    name = plain_name(projects[0] if len(projects) == 1 else found.resolve().stem)
    origin = f"the SwanLab folder {plain_name(found.name)}"
    return take_over(Source(origin, name, trials, notes=tuple(notes)), objective, options)


def _is_log(path: Path) -> bool:
    return path.suffix == ".swanlab"


def _trial(log: Path, run: SwanLabRun, metric: str) -> ForeignTrial:
    config = log.parent / "files" / "config.yaml"
    settings = _plain(read_yaml(config)) if config.is_file() else {}
    ours = settings.pop(OURS, None)
    known = ours if isinstance(ours, dict) else {}
    points = run.points.points()
    said = known.get("status", ENDED.get(run.state))
    status, reason = ended_as(said, points, metric, "SwanLab")
    lasted = (run.ended_s or 0.0) - (run.began_s or 0.0) if run.began_s and run.ended_s else 0.0
    return ForeignTrial(
        name=run.name or log.stem,
        configuration=flattened(settings),
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
        str(name): own["value"] if isinstance(own, dict) and "value" in own else own
        for name, own in entries.items()
    }
