"""A profiler's trace of a few steps, as a file that Perfetto or chrome://tracing opens.

The timers of `throughput` show whether training waits; a trace shows for what (playbook: "use an
appropriate profiler to diagnose input-bound pipelines").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tunewright.errors import PipelineError

_SETTLING = 10  # steps before the trace: compilation, caches, allocation
TRACED = 10  # steps


class Trace:
    """Records steps of one training and writes them; call `stepped` after every step."""

    def __init__(self, path: Path | str, steps: int, device: torch.device) -> None:
        """`steps` are all that this training does: a short one is traced from its start."""
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise PipelineError("fit.trace_folder", path=str(self.path))
        self._first = max(0, min(_SETTLING, steps - TRACED))
        self._last = min(self._first + TRACED, steps)
        self._done = 0
        self._profiler: Any = None
        self._device = device
        if self._first == 0:
            self._start()

    def stepped(self) -> None:
        """Another step is launched."""
        self._done += 1
        if self._done == self._last:
            self.close()
        elif self._done == self._first:
            self._start()

    def close(self) -> None:
        """Write what was recorded; nothing happens where nothing is being recorded."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        profiler.stop()
        profiler.export_chrome_trace(str(self.path))

    def _start(self) -> None:
        self._profiler = started(self._device)


def started(device: torch.device) -> Any:
    """A running profiler of the host, and of the device if it is a CUDA device."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    profiler = torch.profiler.profile(activities=activities)
    profiler.start()
    return profiler
