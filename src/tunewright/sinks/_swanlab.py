"""SwanLab: an offline run per ended trial; `swanlab sync` uploads them.

A run is written whole when its trial ends, since an offline run cannot be added to.
"""

from __future__ import annotations

import re
from pathlib import Path

from tunewright.design.workload_file import Sink
from tunewright.importers._swanlab import read_run
from tunewright.sinks._trackio import OURS, PROJECT, about
from tunewright.sinks._trial_run import Tracker, TrialRun, rows
from tunewright.sinks._wandb import same_rows
from tunewright.sinks._whole_run import write_whole

_ENDS = {"completed": "success", "unmeasured": "success", "pruned": "aborted"}
_LONGEST_NAME = 100


def open_tracker(sink: Sink) -> Tracker:
    """Write offline runs into a folder."""
    return _SwanLab(Path(sink.where), sink.project or PROJECT)


class _SwanLab:
    def __init__(self, folder: Path, project: str) -> None:
        self._folder = folder
        self._project = project

    def put(self, run: TrialRun) -> None:
        """Write an ended trial."""
        if run.over:
            of_it = re.compile(rf"run-.*-{run.key}")
            write_whole(
                self._folder, run, self._make, lambda f: bool(of_it.fullmatch(f.name)), _holds
            )

    def close(self) -> None:
        """Every run was finished already."""

    def _make(self, folder: Path, run: TrialRun) -> Path:
        import swanlab

        quiet = swanlab.Settings(
            interactive=False,
            probe=swanlab.Settings.Probe(
                hardware=False,
                runtime=False,
                requirements=False,
                git=False,
                swanlab=False,
                monitor=False,
            ),
            terminal=swanlab.Settings.Terminal(proxy_type="none"),
        )
        swanlab.init(
            mode="offline",
            log_dir=str(folder),
            project=self._project,
            name=run.name[:_LONGEST_NAME],
            group=run.round[:_LONGEST_NAME],
            job_type=run.study[:_LONGEST_NAME] or None,
            id=run.key,
            config={**run.configuration, OURS: about(run)},
            settings=quiet,
            reinit=True,
        )
        for step, values in rows(run):
            swanlab.log(values, step=step)
        state = _ENDS.get(run.status, "crashed")
        if state == "crashed":
            swanlab.finish("crashed", str(run.summary.get("reason", run.status)))
        else:
            swanlab.finish(state)
        return next(path for path in folder.iterdir() if path.is_dir())


def _holds(folder: Path, run: TrialRun) -> bool:
    files = list(folder.glob("*.swanlab"))
    if len(files) != 1:
        return False
    written = read_run(files[0])
    finished = not written.torn and written.state != "running"
    return finished and same_rows(written.points.points(), run)
