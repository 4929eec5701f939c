"""What a worker process receives of a workload before its first trial, made once."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, field

from tunewright.errors import WorkloadError
from tunewright.execution.command import Command
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.shipping import ship
from tunewright.execution.workload import Workload


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


def _load_of(workload: Workload) -> Load:
    meaning = workload.meaning
    about = {
        "kind": "load",
        "objective": asdict(workload.objective),
        "meaning": {"means": dict(meaning.means), "off": dict(meaning.off)},
    }
    if isinstance(workload.train, Command):
        program = workload.train.words[0]
        if not program.fields and shutil.which(program.texts[0]) is None:
            raise WorkloadError("command.no_such_program", program=program.texts[0])
        train = workload.train
        own = {"command": train.template, "booleans": train.booleans, "read": list(train.read)}
        own["within"] = train.within
        if train.file is not None:
            own["file"] = asdict(train.file)
        return Load({**about, **own, "folder": os.getcwd()})
    shipment = ship(workload.train)
    fields = {
        "path": shipment.path,
        "folder": shipment.folder,
        "module": shipment.module,
        "name": shipment.name,
    }
    return Load({**about, **fields}, shipment.pickled)
