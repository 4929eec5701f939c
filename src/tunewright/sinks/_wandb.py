"""Weights & Biases: an offline run per ended trial; `wandb sync` uploads them.

A run is written whole when its trial ends, since an offline run cannot be added to. The key of a
trial is the id of its run, so that one that is uploaded again stays one run.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from tunewright.design.workload_file import Sink
from tunewright.importers._wandb import read_run
from tunewright.sinks._trial_run import PREFIX, Tracker, TrialRun, rows
from tunewright.sinks._whole_run import write_whole

PROJECT = "tunewright"
_LONGEST_GROUP = 128  # characters, by W&B's own limit
_SYNCED = ".wandb.synced"  # how the file ends that `wandb sync` leaves beside a run


def open_tracker(sink: Sink) -> Tracker:
    """Write offline runs into a folder."""
    return _WandB(Path(sink.where), sink.project or PROJECT)


class _WandB:
    def __init__(self, folder: Path, project: str) -> None:
        self._folder = folder
        self._project = project

    def put(self, run: TrialRun) -> None:
        """Write an ended trial; one that was uploaded stays as it is."""
        if not run.over or any(self._folder.glob(f"offline-run-*-{run.key}/*{_SYNCED}")):
            return
        write_whole(
            self._folder,
            run,
            self._make,
            lambda folder: bool(re.fullmatch(rf"offline-run-.*-{run.key}", folder.name)),
            _holds,
        )

    def close(self) -> None:
        """Every run was finished already."""

    def _make(self, folder: Path, run: TrialRun) -> Path:
        import wandb

        settings = wandb.Settings(
            mode="offline",
            silent=True,
            console="off",
            disable_git=True,
            disable_code=True,
            x_disable_stats=True,
            x_disable_meta=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
        )
        opened = wandb.init(
            project=self._project,
            group=run.round[:_LONGEST_GROUP],
            job_type=run.study[:64] or None,
            id=run.key,
            name=run.name,
            notes=run.goal,
            config=dict(run.configuration),
            dir=str(folder),
            reinit="create_new",
            settings=settings,
        )
        for step, values in rows(run):
            opened.log(values, step=step)
        for name, value in {**run.summary, "seed": run.seed}.items():
            opened.summary[PREFIX + name] = value
        opened.finish(exit_code=0 if run.status in ("completed", "unmeasured") else 1)
        inner = folder / "wandb"
        _drop_logs(inner)
        return next(inner.glob(f"offline-run-*-{run.key}"))


def _drop_logs(folder: Path) -> None:
    """Remove logs of W&B itself, which name this machine and outnumber the data."""
    for path in folder.glob("offline-run-*/*"):
        if path.name in ("logs", "tmp") and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    latest = folder / "latest-run"
    if latest.is_symlink():
        os.unlink(latest)


def _holds(folder: Path, run: TrialRun) -> bool:
    files = list(folder.glob("*.wandb"))
    if len(files) != 1:
        return False
    written = read_run(files[0])
    finished = not written.torn and written.exit_code is not None
    return finished and same_rows(written.points.points(), run)


def same_rows(points: Any, run: TrialRun) -> bool:
    """Whether points that were read back are as many as those of the run, metric by metric."""
    count = {name: len(steps) for name, (steps, _) in points.items()}
    return count == {name: len(curve) for name, curve in run.curves.items() if len(curve)}
