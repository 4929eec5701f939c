"""A batch of trials as an array job: what each task needs, as files in one folder.

The folder stands next to the trial folders, which the nodes see too. It has the job's script, what
to train, the assignments, and small files by which the supervisor speaks to running tasks.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.execution.executors.executor import Assignment, as_assignment, as_fields
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.pooled import Load
from tunewright.execution.processes.frames import Receiver, to_bytes
from tunewright.execution.processes.process import python_path

_TASK_MODULE = "tunewright.execution.executors.slurm.task"
SCRIPT, _LOAD, _TASKS, ALIVE = "job.sh", "load", "tasks.json", "alive"
_WARNED = "warned"  # and the index: the file by which the shell passes the warning on
INDEX = "SLURM_ARRAY_TASK_ID"
_NEWEST = ".slurm-attempt"  # in a trial folder: the attempt that may write there


@dataclass(frozen=True)
class Order:
    """What the tasks of a batch need to know beside their assignments."""

    limits: Limits
    notice_s: float  # between the warning before the time limit and the limit
    orphan_s: float  # a supervisor that is silent for so long has ended
    gpus: int


@dataclass(frozen=True)
class Batch:
    """The folder of one array job."""

    folder: Path

    @property
    def script(self) -> Path:
        """What is submitted."""
        return self.folder / SCRIPT

    def stop_file(self, index: int) -> Path:
        """The file whose existence asks a task to stop; it has the grace period in it."""
        return self.folder / f"stop-{index}"

    def warning_file(self, index: int) -> Path:
        """The file that the task's shell leaves when the time limit is near."""
        return self.folder / f"{_WARNED}-{index}"

    def begin(self, index: int) -> bool:
        """On the node: whether this task starts for the first time; leaves a file if it does not.

        A controller that lost its newest state starts a running task once more.
        """
        try:
            os.close(os.open(self.folder / f"started-{index}", os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            self.restart_file(index).touch()
            return False
        return True

    def restart_file(self, index: int) -> Path:
        """The file that a task leaves which Slurm started a second time."""
        return self.folder / f"restarted-{index}"

    def mailbox(self, index: int) -> Path:
        """Where a task reports what happens to its trial."""
        return self.folder / f"events-{index}"

    def write(
        self, lines: Sequence[str], load: Load, assignments: Sequence[Assignment], order: Order
    ) -> None:
        """Everything that the tasks read, before the job is submitted."""
        self.folder.mkdir(mode=0o700, parents=True)
        self._write(_LOAD, to_bytes(load.head, load.body))
        tasks = {
            "assignments": [as_fields(each) for each in assignments],
            "limits": vars(order.limits),
            "notice_s": order.notice_s,
            "orphan_s": order.orphan_s,
            "gpus": order.gpus,
        }
        self._write(_TASKS, json.dumps(tasks).encode())
        self._write(ALIVE, b"0")
        self.script.write_text(script(lines, self.folder))
        for each in assignments:
            newest(each.folder).write_text(f"{each.attempt} {self.folder.name}")

    def read(self, index: int) -> tuple[Load, Assignment, Order]:
        """On the node: what this task trains."""
        tasks: dict[str, Any] = json.loads((self.folder / _TASKS).read_bytes())
        ((head, body),) = Receiver().feed((self.folder / _LOAD).read_bytes())
        order = Order(
            Limits(**tasks["limits"]), tasks["notice_s"], tasks["orphan_s"], tasks["gpus"]
        )
        return Load(head, body), as_assignment(tasks["assignments"][index]), order

    def beat(self, count: int) -> None:
        """Show the tasks that their supervisor lives."""
        self._write(ALIVE, str(count).encode())

    def ask_stop(self, index: int, grace_s: float) -> None:
        """Ask one task to stop within so many seconds."""
        self._write(self.stop_file(index).name, str(grace_s).encode())

    def _write(self, name: str, data: bytes) -> None:
        """Write a whole file, so that nobody reads half of it."""
        part = self.folder / f".{name}.part"
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        part.replace(self.folder / name)


def newest(folder: Path) -> Path:
    """The file of a trial folder that names the attempt which may write there."""
    return folder / _NEWEST


def script(lines: Sequence[str], folder: Path) -> str:
    """The script of an array job: options, the user's own lines, and the task.

    The warning before the time limit goes to the shell, which hears it from the first line on and
    leaves a file. Python ignores it until it has a handler. SIGTERM goes to every process of the
    job; the shell waits for the task to save.
    """
    options = [line for line in lines if line.startswith("#SBATCH")]
    others = [line for line in lines if not line.startswith("#SBATCH")]
    task = [sys.executable, "-P", "-m", _TASK_MODULE, str(folder)]
    mark = f"touch {shlex.quote(f'{folder}/{_WARNED}')}-${INDEX}"
    return "\n".join(
        [
            "#!/bin/bash",
            *options,
            f"trap {shlex.quote(mark)} USR1",
            "trap '' TERM",
            *others,
            f"export PYTHONPATH={shlex.quote(python_path())}",
            f"(trap '' USR1; exec {shlex.join(task)}) &",
            "task=$!",
            'while wait "$task"; code=$?; kill -0 "$task" 2>/dev/null; do :; done',
            'exit "$code"',
            "",
        ]
    )


def job_name(round: str) -> str:
    """The name of a job as squeue shows it.

    >>> job_name("my round; ls")
    'tunewright-my_round_ls'
    """
    return f"tunewright-{re.sub(r'[^A-Za-z0-9.-]+', '_', round)[:40]}"
