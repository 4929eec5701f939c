"""Many trials at once on one GPU: `tw.executors.Packed(trials=16, device=0)`.

One process per GPU trains K trials, each in a thread with its own stream, CUDA graph and random
state. Training functions are unchanged; they call `pipeline.fit` with `capture=True`. What cannot
train so runs in its own process, and a note has the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunewright.execution.executors import devices as machine
from tunewright.execution.executors.executor import Assignment
from tunewright.execution.executors.limits import Limits, refuse
from tunewright.execution.executors.local import Local, worker_environment
from tunewright.execution.executors.packed_lane import MOST_TRIALS
from tunewright.execution.executors.packed_pool import Bay, PackPool, PackSize
from tunewright.execution.executors.pooled import Pooled
from tunewright.execution.workload import Workload
from tunewright.messages import Message

AUTO = 8  # trials at once to begin with, where the number is not given
_OWN_PROCESSES = 8  # trials at once of those that cannot train in a pack, per GPU


@dataclass
class Packed(Pooled[PackPool]):
    """K trials at once in one process per GPU; each trains as if it were alone.

    >>> Packed(trials=4, device="cpu").slots
    4

    `device` is a CUDA device or several, and "cpu" is a stand-in for tests. Trials that end,
    diverge, fail or are stopped change nothing in the others. A trial that ends the process returns
    the others to pending; they resume from their snapshots.
    """

    trials: int | None = None  # at once on a GPU; None: 8, and more while that is faster
    device: int | str | Sequence[int | str] = 0
    trial_timeout_s: float | None = None  # of one attempt
    no_progress_timeout_s: float | None = None  # without a step reported

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        problems: list[Message] = []
        whole = isinstance(self.trials, int) and not isinstance(self.trials, bool)
        if self.trials is not None and not (whole and 1 <= self.trials <= MOST_TRIALS):
            facts = {"trials": self.trials, "most": MOST_TRIALS}
            problems.append(Message("packed.bad_trials", facts))
        if not self._devices or any(not name.strip() for name in self._devices):
            problems.append(Message("packed.no_device", {"device": self.device}))
        refuse(problems, lambda: self._limits)

    @property
    def slots(self) -> int:
        """How many trials can train at once; without `trials` it grows while that is faster."""
        if self._pool is not None:
            return self._pool.slots
        return (self.trials or AUTO) * len(self._devices)

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts; those without a place wait for one."""
        load = self._loads.of(workload)
        if self._pool is None:
            self._pool = PackPool(self._bays(), self._limits, self._alone())
        self._pool.start(workload, load, assignments)

    # ---- what a pool is made of

    @property
    def _devices(self) -> tuple[str, ...]:
        if isinstance(self.device, int | str):
            return (str(self.device),)
        return tuple(str(each) for each in self.device)

    @property
    def _limits(self) -> Limits:
        return Limits(self.trial_timeout_s, self.no_progress_timeout_s)

    def _alone(self) -> Local:
        on_cpu = set(self._devices) == {"cpu"}
        workers = min(self.trials or AUTO, machine.cores() if on_cpu else _OWN_PROCESSES)
        return Local(
            workers=workers * len(self._devices),
            devices=[] if on_cpu else list(self._devices),
            trial_timeout_s=self.trial_timeout_s,
            no_progress_timeout_s=self.no_progress_timeout_s,
        )

    def _bays(self) -> list[Bay]:
        bays = []
        for device in self._devices:
            threads = max(1, machine.cores() // len(self._devices))
            environment = worker_environment(threads)
            environment[machine.VISIBLE] = "" if device == "cpu" else device
            size = PackSize(self.trials or AUTO, self.trials or MOST_TRIALS, self.trials is None)
            bays.append(Bay(device, environment, size))
        return bays
