"""Drives an executor as a supervisor would, for tests: assignments in, events out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import (
    Assignment,
    Began,
    Ended,
    Event,
    Executor,
    Logged,
    Saved,
)
from tunewright.execution.handle import Handle
from tunewright.execution.workload import Workload
from tunewright.store.curves import Batch, Curve, merge
from tunewright.store.outcome import Outcome

DEADLINE_S = 120.0  # generous: only a hang reaches it
OBJECTIVE = minimize("valid_error")


@dataclass
class Told:
    """Everything an executor told of one attempt."""

    events: list[Event]
    folder: Path

    @property
    def end(self) -> Outcome:
        (end,) = [event for event in self.events if isinstance(event, Ended)]
        assert self.events[-1] is end, "something was told after the end"
        return end.outcome

    @property
    def began(self) -> list[Began]:
        return [event for event in self.events if isinstance(event, Began)]

    @property
    def saved(self) -> list[Saved]:
        return [event for event in self.events if isinstance(event, Saved)]

    @property
    def curves(self) -> dict[str, Curve]:
        start = self.began[-1].start_step if self.began else 0
        batches = [
            Batch(event.attempt, start, event.points)
            for event in self.events
            if isinstance(event, Logged)
        ]
        return merge(batches)

    @property
    def log(self) -> str:
        return (self.folder / f"log.{self.events[-1].attempt}.txt").read_text(errors="replace")


def assignment(
    folder: Path,
    configuration: Mapping[str, Any] | None = None,
    number: int = 0,
    attempt: int = 1,
    seed: int = 7,
) -> Assignment:
    folder.mkdir(parents=True, exist_ok=True)
    trial = number + 100  # the record's identity is another than the number
    return Assignment(trial, attempt, number, "a round", configuration or {}, seed, 1, folder)


def handle(
    folder: Path, configuration: Mapping[str, Any] | None = None, **rest: Any
) -> tuple[Handle, Told]:
    """A handle outside any executor, and what it tells."""
    told = Told([], folder)
    meaning = Meaning(rest.pop("means", {}))
    own = assignment(folder, configuration, **rest)
    return Handle(own, OBJECTIVE, meaning, told.events.append), told


def drive(
    executor: Executor,
    train: Callable[..., object] | Command,
    folder: Path,
    configurations: Sequence[Mapping[str, Any]],
    attempt: int = 1,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Told]:
    """Train all configurations, and return what was told of each, in their order."""
    workload = Workload(train, OBJECTIVE)
    assignments = [
        assignment(folder / f"t{number}", configuration, number, attempt)
        for number, configuration in enumerate(configurations)
    ]
    told = {each.trial: Told([], each.folder) for each in assignments}
    left = set(told)
    executor.start(workload, assignments)
    until = time.monotonic() + DEADLINE_S
    while left:
        assert time.monotonic() < until, f"trials {left} never ended"
        meanwhile()
        for event in executor.events(0.1):
            told[event.trial].events.append(event)
            if isinstance(event, Ended):
                left.discard(event.trial)
    return list(told.values())


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def gone(pids: Sequence[int], within_s: float = 20.0) -> bool:
    """Whether all these processes end within a generous time."""
    until = time.monotonic() + within_s
    while any(alive(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
