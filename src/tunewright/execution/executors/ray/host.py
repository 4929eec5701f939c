"""The host of one trial at a time on a node of a cluster: the pool of `Local`, with one seat.

Time-outs, memory limits, logs, warm workers and the end of everything a trial has started are thus
the very same code as on one machine. Every order may be given twice, and what was reported is kept
until it is acknowledged, so that a connection that drops costs nothing.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tunewright
from tunewright.execution.executors import devices
from tunewright.execution.executors.executor import Assignment, Ended, Event, Saved
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.pool import Isolate, Pool, Seat
from tunewright.execution.executors.pooled import Load
from tunewright.execution.processes.output import HEAD, TAIL
from tunewright.messages import Message

_LONGEST_LOG = HEAD + TAIL + 1000  # bytes that a finished log can have


@dataclass(frozen=True)
class Arrived:
    """Where a host has been placed, and what it was given."""

    host: str  # the machine's name
    version: str  # of this package
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Printed:
    """The log of an attempt whose folder the supervisor cannot see; sent just before its end."""

    trial: int
    attempt: int
    text: bytes


Report = Event | Printed


class Host:
    """Lives in a separate process on some node; its methods are called from several threads."""

    def __init__(self, limits: Limits, isolate: Isolate, cpus: float, gpus: float) -> None:
        """`cpus` and `gpus` are what one trial has; which GPUs, the environment has by now."""
        self._devices = devices.visible_devices() if gpus else ()
        environment = {**os.environ, "OMP_NUM_THREADS": str(max(1, int(cpus)))}
        if not gpus:
            environment[devices.VISIBLE] = ""
        self._pool = Pool([Seat(self._devices, environment)], limits, isolate)
        self._loads: dict[int, Load] = {}  # by the supervisor's number for it
        self._orders_seen: dict[int, bool] = {}  # orders, and whether the trial's folder is seen
        self._private: dict[int, Path] = {}  # folders that only this node sees, by trial
        self._missing = ""  # the project's folder, if this node has none
        self._kept: list[Report] = []  # not acknowledged yet
        self._dropped = 0  # acknowledged: the number of the first one kept
        self._listening = threading.Lock()
        self._starting = threading.Lock()

    def arrive(self) -> Arrived:
        """Say where this host is; the first thing it is asked."""
        return Arrived(socket.gethostname(), tunewright.__version__, self._devices)

    def start(
        self, order: int, number: int, load: Load | None, assignment: Assignment, sign: str
    ) -> bool:
        """Begin an attempt; whether its folder is seen from here. An old order does nothing.

        `number` identifies what is trained, which is sent along the first time only. `sign` is a
        file that the supervisor has made beside the trial folder: who sees it sees the folder.
        """
        with self._starting:
            if order in self._orders_seen:
                return self._orders_seen[order]
            if load is not None:
                self._missing = "" if Path(load.head["folder"]).is_dir() else load.head["folder"]
                self._loads[number] = at_home(load, os.getcwd(), sys.path)
            shared = (assignment.folder.parent / sign).exists()
            if not shared:
                private = Path(tempfile.mkdtemp(prefix=f"tunewright-{assignment.folder.name}-"))
                self._private[assignment.trial] = private
                assignment = replace(assignment, folder=private)
            self._orders_seen[order] = shared
            self._pool.start(self._loads[number], [assignment])
            return shared

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask the trial to save, and end it after the grace period."""
        self._pool.stop(trial, grace_s)

    def tell(self, acknowledged: int, timeout_s: float) -> tuple[int, list[Report]]:
        """What has happened since, with the number of the first of it; waits for something."""
        with self._listening:
            del self._kept[: max(0, acknowledged - self._dropped)]
            self._dropped = max(self._dropped, acknowledged)
            if not self._kept:
                for event in self._pool.events(timeout_s):
                    self._kept += self._retold(event)
            return self._dropped, list(self._kept)

    def close(self) -> None:
        """End what still trains, and wait until it is gone."""
        self._pool.close()

    def _retold(self, event: Event) -> list[Report]:
        """An event as the supervisor may hear it: what is in a private folder is not there."""
        private = self._private.get(event.trial)
        if isinstance(event, Ended) and event.outcome.status == "failed" and self._missing:
            cause = event.outcome.reason or Message("trial.failed", {"text": ""})
            facts = {
                "cause": cause.to_data(),
                "host": socket.gethostname(),
                "folder": self._missing,
            }
            reason = Message("trial.folder_missing", facts)
            event = replace(event, outcome=replace(event.outcome, reason=reason))
        if private is None:
            return [event]
        if isinstance(event, Saved):
            return []
        if isinstance(event, Ended):
            del self._private[event.trial]
            file = private / f"log.{event.attempt}.txt"
            text = file.read_bytes()[:_LONGEST_LOG] if file.exists() else b""
            return [Printed(event.trial, event.attempt, text), event]
        return [event]


def at_home(load: Load, folder: str, path: Sequence[str]) -> Load:
    """A load as it is started on this node, whose project may stand in another folder.

    What the supervisor could import is looked for under the same paths, where they exist here; then
    where this node's own Python looks. `folder` and `path` are this process's own.
    """
    head: Mapping[str, Any] = load.head
    home = head["folder"] if Path(head["folder"]).is_dir() else folder
    placed = {**head, "folder": home}
    if "path" in head:
        there = [_move(entry, head["folder"], home) for entry in head["path"]]
        kept = [entry for entry in there if Path(entry).exists()]
        here = [os.path.abspath(entry) for entry in path]
        placed["path"] = tuple(dict.fromkeys([*kept, *here]))
    return Load(placed, load.body)


def _move(entry: str, old: str, new: str) -> str:
    """A path inside the project's folder as it is here."""
    inside = Path(entry).is_relative_to(old)
    return str(Path(new) / Path(entry).relative_to(old)) if inside else entry
