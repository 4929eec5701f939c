"""Training on this machine: one worker process per trial under way, on its own devices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tunewright.execution.executors import devices as machine
from tunewright.execution.executors.executor import Assignment
from tunewright.execution.executors.limits import Limits, refuse
from tunewright.execution.executors.pool import Isolate, Pool, Seat
from tunewright.execution.executors.pooled import Pooled
from tunewright.execution.workload import Workload
from tunewright.messages import Message

# What a launcher sets for its ranks. A trial is a separate job, even if we run under torchrun.
LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def worker_environment(threads: int) -> dict[str, str]:
    """What a worker process finds in its environment: not our launcher's, and so many threads."""
    # without a number every worker would start as many threads as there are cores
    environment = {"OMP_NUM_THREADS": str(threads), **os.environ}
    return {name: text for name, text in environment.items() if name not in LAUNCHER}


@dataclass(kw_only=True)
class Local(Pooled[Pool]):
    """Several trials at once on this machine, each in a separate process.

    A training program can do what it likes: crash, hang, leave processes behind, fill the memory
    or the log. Its trial ends as it should and the others continue. With `isolate="auto"` trials of
    less than a minute share a warm process, where the training module is imported once; it is
    replaced when a trial fails or leaves something changed.
    """

    workers: int | None = None  # trials at once; None: by devices, else by cores
    devices: Sequence[int | str] | None = None  # CUDA devices; None: all there are, []: none
    devices_per_trial: int = 1  # CUDA devices that each trial sees
    trial_timeout_s: float | None = None  # of one attempt
    no_progress_timeout_s: float | None = None  # without a step reported
    memory_gb: float | None = None  # of a trial with everything it starts
    isolate: Isolate = "auto"  # a fresh process per trial: "always", "never", or when it pays

    def __post_init__(self) -> None:
        """Refuse settings that make no sense, every problem at once."""
        problems: list[Message] = []
        for name in ("workers", "devices_per_trial"):
            count = getattr(self, name)
            if count is None and name == "workers":
                continue
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                problems.append(Message("executor.bad_count", {"name": name, "count": count}))
        if self.isolate not in ("auto", "always", "never"):
            problems.append(Message("executor.bad_isolate", {"isolate": self.isolate}))
        refuse(problems, lambda: self._limits)

    @property
    def slots(self) -> int:
        """How many trials can train at once."""
        if self.workers is not None:
            return self.workers
        return len(self._groups) or machine.cores()

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts; those without a seat wait for one."""
        load = self._loads.of(workload)
        if self._pool is None:
            self._pool = Pool(self._seats(), self._limits, self.isolate)
        self._pool.start(load, assignments)

    # ---- what a pool is made of

    @property
    def _limits(self) -> Limits:
        return Limits(self.trial_timeout_s, self.no_progress_timeout_s, self.memory_gb)

    @cached_property
    def _groups(self) -> tuple[tuple[str, ...], ...]:
        given = (
            machine.visible_devices()
            if self.devices is None
            else [str(each) for each in self.devices]
        )
        return machine.groups(given, self.devices_per_trial)

    def _seats(self) -> list[Seat]:
        threads = max(1, machine.cores() // self.slots)
        seats = []
        for at in range(self.slots):
            # more workers than devices share them in turn
            devices = self._groups[at % len(self._groups)] if self._groups else ()
            environment = worker_environment(threads)
            if devices or self.devices is not None:
                environment[machine.VISIBLE] = ",".join(devices)
            seats.append(Seat(devices, environment))
        return seats
