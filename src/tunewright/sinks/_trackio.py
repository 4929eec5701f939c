"""Trackio: a run per trial in the project's local database, grouped by round.

Trackio keeps no status and takes settings only when a run begins, so that a run is deleted and
written anew whenever its trial changed; the status and the summary are part of its configuration.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tunewright.design.workload_file import Sink
from tunewright.errors import StoreError
from tunewright.sinks._trial_run import Tracker, TrialRun, rows

PROJECT = "tunewright"
OURS = "tunewright"  # the entry of a configuration that holds what this package knows of the trial


def open_tracker(sink: Sink) -> Tracker:
    """Write into the databases of a folder, which Trackio takes from its environment."""
    Path(sink.where).mkdir(parents=True, exist_ok=True)
    os.environ["TRACKIO_DIR"] = sink.where
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a local project asks no server who we are
    import trackio

    return _Trackio(trackio, sink.project or PROJECT, sink.where)


class _Trackio:
    def __init__(self, trackio: Any, project: str, where: str) -> None:
        self._trackio = trackio
        self._project = project
        self._where = where

    def put(self, run: TrialRun) -> None:
        """Delete the run, if there is one, write it, and count what was written."""
        for earlier in self._runs(run):
            if not earlier.delete():
                raise StoreError("sink.not_deleted", run=run.name, folder=self._where)
        points = rows(run)
        if not points:
            return  # Trackio writes a run with its first point
        opened = self._trackio.init(
            project=self._project,
            name=run.name,
            group=run.round,
            config={**run.configuration, OURS: about(run)},
            resume="never",
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
        for step, values in points:
            opened.log(values, step=step)
        opened.finish()
        written = self._point_count(run)
        if written != len(points):
            raise StoreError("sink.not_whole", run=run.name, folder=self._where)

    def close(self) -> None:
        """Every run was finished already."""

    def _runs(self, run: TrialRun) -> list[Any]:
        """The runs of a trial: of its name, and of its key where one was written."""
        try:
            runs = self._trackio.Api().runs(self._project)
        except ValueError:  # the project has no database yet
            return []
        return [known for known in runs if known.name == run.name and _is_of(known, run)]

    def _point_count(self, run: TrialRun) -> int:
        from trackio.sqlite_storage import SQLiteStorage

        return sum(
            len(SQLiteStorage.get_logs(self._project, written.name, run_id=written.id))
            for written in self._runs(run)
        )


def _is_of(written: Any, run: TrialRun) -> bool:
    known = (written.config or {}).get(OURS)
    return not isinstance(known, dict) or known.get("key") == run.key


def about(run: TrialRun) -> dict[str, Any]:
    """What this package knows of a trial beside its settings and curves."""
    place = {"key": run.key, "round": run.round, "study": run.study, "seed": run.seed}
    return {**place, "goal": run.goal, **run.summary}
