"""The port to Slurm: four commands, their answers as data, and what to do when they fail.

Only `sbatch`, `squeue`, `scontrol` and `scancel` are used: accounting (`sacct`) needs a database
that many clusters do not have.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tunewright.errors import WorkloadError

_COMMANDS = ("sbatch", "squeue", "scontrol", "scancel")
_PATIENCE_S = 60.0  # for one command; a controller under load is slow
LONGEST = 500  # characters of a command's output
ACTIVE = frozenset(
    (
        *("PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "REQUEUED", "RESIZING"),
        *("STOPPED", "SIGNALING", "STAGE_OUT", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"),
    )
)
UNKNOWN = "GONE"  # Slurm does not know the job any more
Task = tuple[str, int]  # the array job and the index in it
_TASK = re.compile(r"^(\d+)_(\d+)$")


class SchedulerDown(Exception):
    """The controller did not answer; it may be restarted at the moment."""


class Scheduler(Protocol):
    """What the executor asks of a batch system."""

    def check(self, script: Path) -> None:
        """Refuse a script that could never be submitted; nothing is queued."""

    def submit(self, script: Path, tasks: int) -> str:
        """Queue an array job; its id."""

    def states(self, jobs: Sequence[str]) -> Mapping[Task, str]:
        """The state of every task of these jobs that is still known, in one question."""

    def state(self, task: Task) -> str:
        """The state of one task as the controller remembers it; UNKNOWN if it does not."""

    def cancel(self, tasks: Sequence[Task], pending_only: bool = False) -> None:
        """End these tasks, or only those that have not begun."""


@dataclass(frozen=True)
class Slurmctl:
    """Slurm's own commands, found on PATH."""

    def check(self, script: Path) -> None:
        """`sbatch --test-only`; refuses with Slurm's own words."""
        missing = [name for name in _COMMANDS if shutil.which(name) is None]
        if missing:
            raise WorkloadError("slurm.no_commands", missing=missing)
        done = _run("sbatch", "--test-only", str(script))
        if done.returncode != 0 and not _is_down(done):
            raise WorkloadError("slurm.refused", reason=_output(done))

    def submit(self, script: Path, tasks: int) -> str:
        """`sbatch --array`; refuses with Slurm's own words."""
        done = _run("sbatch", "--parsable", f"--array=0-{tasks - 1}", str(script))
        if _is_down(done):
            raise SchedulerDown(_output(done))
        if done.returncode != 0:
            raise WorkloadError("slurm.refused", reason=_output(done))
        return done.stdout.strip().splitlines()[-1].partition(";")[0]

    def states(self, jobs: Sequence[str]) -> Mapping[Task, str]:
        """`squeue`, one line a task."""
        done = _run(
            *("squeue", "--noheader", "--array", "--states=all"),
            *("--format=%i|%T", f"--jobs={','.join(jobs)}"),
        )
        if done.returncode != 0 and "Invalid job id" not in done.stderr:
            raise SchedulerDown(_output(done))
        return _read_states(done.stdout)

    def state(self, task: Task) -> str:
        """`scontrol show job`, which remembers a job for some minutes after its end."""
        done = _run("scontrol", "--oneliner", "show", "job", f"{task[0]}_{task[1]}")
        if done.returncode != 0:
            text = done.stderr + done.stdout
            # a task that was cancelled while it waited is "not found", although its job is there
            if "Invalid job id" in text or "not found" in done.stdout:
                return UNKNOWN
            raise SchedulerDown(_output(done))
        match = re.search(r"\bJobState=(\w+)", done.stdout)
        return match[1] if match else UNKNOWN

    def cancel(self, tasks: Sequence[Task], pending_only: bool = False) -> None:
        """`scancel`; what has ended already is no error."""
        only = ("--state=PENDING",) if pending_only else ()
        _run("scancel", *only, *(f"{job}_{index}" for job, index in tasks))


def _read_states(text: str) -> dict[Task, str]:
    """The states of tasks in the answer of squeue.

    >>> _read_states("12_0|RUNNING\\n12_1|PENDING\\nnoise\\n")
    {('12', 0): 'RUNNING', ('12', 1): 'PENDING'}
    """
    states = {}
    for line in text.splitlines():
        name, _, state = line.strip().partition("|")
        if matched := _TASK.match(name):
            states[matched[1], int(matched[2])] = state.strip().partition(" ")[0]
    return states


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SchedulerDown(f"{words[0]} did not answer for {_PATIENCE_S:g} s") from error
    except OSError as error:
        raise SchedulerDown(str(error)) from error


def _is_down(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the controller could not be reached: it is worth asking again."""
    signs = ("Unable to contact", "Connection refused", "Socket timed out", "Zero Bytes")
    return done.returncode != 0 and any(sign in done.stderr for sign in signs)


def _output(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return (lines[-1] if lines else f"exit status {done.returncode}")[:LONGEST]
