"""What executors with worker processes do alike: what a worker receives of a workload, and an end.

A workload is made ready to travel once; the processes are started by the first `start`.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import asdict, dataclass, field
from typing import Generic, Protocol, TypeVar

from tunewright.errors import WorkloadError
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Event
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.shipping import ship
from tunewright.execution.workload import Workload
from tunewright.store.plain_json import meaning_data, objective_data


@dataclass(frozen=True, eq=False)
class Load:
    """What a worker must know before its first trial: a training function or a command."""

    head: Head
    body: bytes = b""

    @property
    def is_command(self) -> bool:
        """Whether the worker only looks after another program."""
        return "command" in self.head


@dataclass(eq=False)
class Loads:
    """The loads of an executor's workloads, each made once."""

    _known: list[tuple[Workload, Load]] = field(default_factory=list)

    def of(self, workload: Workload) -> Load:
        """What workers receive of a workload; refuses what cannot be started or shipped."""
        for known, load in self._known:
            if known is workload:
                return load
        load = _load_of(workload)
        self._known.append((workload, load))
        return load

    def clear(self) -> None:
        """Forget them all."""
        self._known.clear()


class WorkerPool(Protocol):
    """Worker processes at work, on this machine or on others."""

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened; waits up to `timeout_s` for the first of it."""
        ...

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it after the grace period."""
        ...

    def close(self) -> None:
        """End everything."""
        ...


P = TypeVar("P", bound=WorkerPool)


@dataclass
class Pooled(Generic[P]):
    """An executor whose trials train in worker processes; `start` makes the first of them."""

    _pool: P | None = field(default=None, init=False, repr=False, compare=False)
    _loads: Loads = field(default_factory=Loads, init=False, repr=False, compare=False)

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened since the last call; waits up to `timeout_s` for the first of it."""
        if self._pool is None:
            time.sleep(timeout_s)
            return []
        return self._pool.events(timeout_s)

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it with all it has started after the grace period."""
        if self._pool is not None:
            self._pool.stop(trial, grace_s)

    def close(self) -> None:
        """End everything that still runs; the next `start` begins anew."""
        pool, self._pool = self._pool, None
        self._loads.clear()
        if pool is not None:
            pool.close()


def _load_of(workload: Workload) -> Load:
    """What `processes.worker.task_of` makes the task from, in the worker."""
    train = workload.train
    head: Head = {
        "kind": "load",
        "objective": objective_data(workload.objective),
        "meaning": meaning_data(workload.meaning),
    }
    if isinstance(train, Command):
        program = train.words[0]
        if not program.fields and shutil.which(program.texts[0]) is None:
            raise WorkloadError("command.no_such_program", program=program.texts[0])
        # the defaults are in each configuration
        return Load({**head, "command": {**asdict(train), "defaults": {}}, "folder": os.getcwd()})
    shipment = asdict(ship(train))
    body = shipment.pop("pickled")
    return Load({**head, **shipment}, body)
