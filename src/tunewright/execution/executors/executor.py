"""The executor protocol: who trains, without knowing where the store is.

An executor starts trials, reports what happens to them, and stops them. It never talks to the
store: only the supervisor does. Reports travel as plain data, so an executor may be a process pool,
a cluster, or jobs that leave files in the trial folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tunewright.design.ranges import Value
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.outcome import Ended as Ended


@dataclass(frozen=True)
class Assignment:
    """One attempt at one trial, all that a worker needs to know."""

    trial: int  # the store's key of the trial, not its number
    attempt: int  # from 1
    number: int | None  # the round-wide number, None for a repeat
    round: str
    configuration: Mapping[str, Value]
    seed: int  # the trial's; the handle derives init, order, data and split from it
    split_seed: int  # alike for all trials of a round
    folder: Path  # the same for every attempt; exists already
    eval_every: int | None = None  # steps between evaluations; None: a hundredth of training


def as_fields(assignment: Assignment) -> dict[str, Any]:
    """An assignment as plain data, for a pipe, a file or an environment."""
    return {**asdict(assignment), "folder": str(assignment.folder)}


def as_assignment(fields: Mapping[str, Any]) -> Assignment:
    """What `as_fields` wrote."""
    return Assignment(**{**fields, "folder": Path(fields["folder"])})


@dataclass(frozen=True)
class Logged:
    """Points of a trial's curves, packed by `store.curves.pack`; sent in order."""

    trial: int
    attempt: int
    points: bytes


@dataclass(frozen=True)
class Saved:
    """A snapshot was written and is valid."""

    trial: int
    attempt: int
    step: int
    path: str  # relative to the trial folder
    sha256: str


@dataclass(frozen=True)
class Began:
    """The training program starts (or resumes after `start_step` updates).

    Sent again when the program then begins at another step; the last one before any point counts.
    """

    trial: int
    attempt: int
    start_step: int
    worker: str  # where: host and pid
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stepped:
    """How far the program is; sent now and then, never stored."""

    trial: int
    attempt: int
    step: int
    total: int | None = None  # steps in all, where the program counts them by `run.steps`


@dataclass(frozen=True)
class Noted:
    """Something about the attempt that its owner should know, and that does not end it."""

    trial: int
    attempt: int
    message: Message


@dataclass(frozen=True)
class Applied:
    """The values that the program reports it used; a later report adds to an earlier one."""

    trial: int
    attempt: int
    values: Mapping[str, Any]  # plain data


Event = Began | Logged | Saved | Stepped | Noted | Applied | Ended


@runtime_checkable
class Executor(Protocol):
    """Five verbs; see `tunewright.testing` for the contract tests any executor must pass.

    >>> import tunewright as tw
    >>> inline = tw.executors.Inline()
    >>> isinstance(inline, tw.protocols.Executor), inline.slots
    (True, 1)
    """

    @property
    def slots(self) -> int:
        """How many trials can train at once."""
        ...

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts; returns at once."""
        ...

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened since the last call; waits up to `timeout_s` for the first of it."""
        ...

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it (with all its descendants) after the grace period."""
        ...

    def close(self) -> None:
        """End everything that still runs and free what is held."""
        ...
