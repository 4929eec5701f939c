"""Accelerate reports to the current trial: a tracker that logs, saves, stops and resumes.

    tracker = tunewright.integrations.accelerate.tracker()
    accelerator = Accelerator(log_with=tracker)
    accelerator.init_trackers("project", config={"lr": lr})
    first = tracker.resume(accelerator)           # after accelerator.prepare(...)
    for step in range(first + 1, steps + 1):
        ...
        accelerator.log({"train_loss": loss}, step=step)
        tracker.save_if_due(accelerator, step, steps)

Without a trial it does nothing.
"""

from __future__ import annotations

from typing import Any

from tunewright.execution.training_run import Run
from tunewright.integrations._checkpoints import Checkpoints, save_due
from tunewright.integrations._library import (
    from_all_ranks,
    handle,
    library,
    listen,
    numbers_in,
    optimizer_values,
    stop_here,
)

FOLDER = "accelerate"  # of checkpoints, in the folder of the trial


def tracker(run: Run | None = None) -> Any:
    """A `GeneralTracker` for the trial of this program, or of the handle `run`."""
    base = library("accelerate.tracking").GeneralTracker
    return type("Tunewright", (_Tracks, base), {})(handle(run))


class _Tracks:
    """The methods of an Accelerate tracker, and three for saving."""

    name = "tunewright"
    requires_logging_directory = False

    def __init__(self, run: Run) -> None:
        """The tracker is made before the Accelerator."""
        super().__init__()
        self.run = run
        self._checkpoints = Checkpoints(run, FOLDER)
        self._reported = False

    @property
    def tracker(self) -> Run:
        """The handle of the trial."""
        return self.run

    def start(self) -> None:
        """Accelerate is set up now; its launcher may have replaced the handler of SIGTERM."""
        listen(self.run)

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Report the configuration as the values that the program uses; Accelerate asks rank 0."""
        self.run.applied(values)

    def log(self, values: dict[str, Any], step: int | None = None, **more: Any) -> None:
        """Log numbers at the number of updates; rank 0 reports."""
        self.run.log(self.run.step if step is None else step, numbers_in(values))

    def finish(self) -> None:
        """Report what is still held."""
        self.run.flush()

    def resume(self, accelerator: Any) -> int:
        """Load the state of an earlier attempt; returns how many updates it has had."""
        listen(self.run)  # `start` is called on rank 0 alone
        latest = self._checkpoints.latest
        if latest is None:
            return 0
        accelerator.load_state(str(latest))
        return self.run.start_step

    def save_if_due(self, accelerator: Any, step: int, steps: int) -> None:
        """Save the state when it is due or a stop is requested, on every rank at the same step.

        Call it after everything of this step is logged. About ten states are saved of all `steps`.
        """
        if self.run.alone:
            return
        if not self._reported:
            self._reported = True
            # Accelerate names no other place where it keeps what it prepared
            prepared = getattr(accelerator, "_optimizers", [])
            self.run.applied(from_all_ranks(optimizer_values(prepared)))
        if stop_here(self.run) or save_due(step, steps):
            first, wait = accelerator.is_main_process, accelerator.wait_for_everyone
            self._checkpoints.write(
                step, lambda path: accelerator.save_state(str(path)), first=first, wait=wait
            )
            self._checkpoints.register(first=first, wait=wait)
