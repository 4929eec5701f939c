"""A watcher that keeps everything it is told, and an executor that does what a test says."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tunewright.execution.executors.executor import Assignment, Ended, Event, Logged
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Started,
    Summary,
)
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome


@dataclass
class Kept:
    """Everything a supervisor told, in order."""

    told: list[tuple] = field(default_factory=list)

    def step(self, step: CampaignStep) -> None:
        self.told.append(("step", step))

    def began(self, round: RoundStarted) -> None:
        self.told.append(("began", round.name, round.total, round.done))

    def claimed(self, started: Started) -> None:
        self.told.append(("claimed", started))

    def reached(self, reached: Reached) -> None:
        self.told.append(("reached", reached))

    def ended(self, concluded: Concluded) -> None:
        self.told.append(("ended", concluded))

    def best(self, concluded: Concluded) -> None:
        self.told.append(("best", concluded))

    def message(self, text: str) -> None:
        self.told.append(("message", text))

    def closed(self, summary: Summary) -> None:
        self.told.append(("closed", summary))

    def all(self, kind: str) -> list:
        return [one[1] for one in self.told if one[0] == kind]

    @property
    def summary(self) -> Summary:
        (summary,) = self.all("closed")
        assert self.told[-1] == ("closed", summary)
        return summary


def completed(given: Assignment, value: float = 0.5) -> list[Event]:
    """The events of an attempt that logs one value and completes."""
    points = pack({"valid_error": ([1], [value])})
    return [
        Logged(given.trial, given.attempt, points),
        Ended(given.trial, given.attempt, Outcome("completed", seconds=1.0)),
    ]


@dataclass
class Scripted:
    """An executor whose attempts do what `script` says; it trains nothing."""

    script: Callable[[Assignment], list[Event]] = completed
    slots: int = 2
    started: list[Assignment] = field(default_factory=list)
    stopped: list[tuple[int, float]] = field(default_factory=list)
    closed: int = 0
    waiting: deque[Event] = field(default_factory=deque)

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        for given in assignments:
            self.started.append(given)
            self.waiting.extend(self.script(given))

    def events(self, timeout_s: float) -> list[Event]:
        if not self.waiting:
            time.sleep(min(timeout_s, 0.01))
        told = list(self.waiting)
        self.waiting.clear()
        return told

    def stop(self, trial: int, grace_s: float) -> None:
        self.stopped.append((trial, grace_s))
        for given in self.started:
            if given.trial == trial:
                ended = Ended(trial, given.attempt, Outcome("stopped", Message("stopped.asked")))
        self.waiting.append(ended)

    def close(self) -> None:
        self.closed += 1
