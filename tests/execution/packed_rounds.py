"""Drives packs as a supervisor does: what is stopped by a fault of another trial runs again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.execution.driving import DEADLINE_S, OBJECTIVE, Told, assignment

from tunewright.execution.executors.executor import Assignment, Ended, Event, Executor, Saved
from tunewright.execution.workload import Workload

Curves = dict[str, tuple[list[int], list[float]]]


@dataclass
class Lived:
    """All attempts at one trial."""

    folder: Path
    events: list[Event] = field(default_factory=list)

    @property
    def ends(self) -> list[Ended]:
        return [event for event in self.events if isinstance(event, Ended)]

    @property
    def outcome(self) -> str:
        return self.ends[-1].outcome.status

    @property
    def codes(self) -> list[str]:
        return [end.outcome.reason.code for end in self.ends if end.outcome.reason is not None]

    @property
    def curves(self) -> Curves:
        """What the last attempt logged."""
        last = self.ends[-1].attempt
        told = Told([event for event in self.events if event.attempt == last], self.folder)
        return {n: (c.steps.tolist(), c.values.tolist()) for n, c in told.curves.items()}


def attempt_at(folder: Path, number: int, attempt: int, configuration: Any) -> Assignment:
    return assignment(
        folder / str(number), number=number, attempt=attempt, configuration=configuration
    )


def lived(
    executor: Executor, train: Callable[..., None], folder: Path, settings: Sequence[Any]
) -> list[Lived]:
    """Every trial to its end, over as many attempts as that takes."""
    workload = Workload(train, OBJECTIVE)
    trials = [Lived(folder / str(number)) for number in range(len(settings))]
    deadline = time.monotonic() + DEADLINE_S
    open_ones = set(range(len(settings)))
    try:
        executor.start(workload, [attempt_at(folder, n, 1, s) for n, s in enumerate(settings)])
        while open_ones:
            assert time.monotonic() < deadline
            for event in executor.events(5.0):
                number = event.trial - 100
                trials[number].events.append(event)
                if not isinstance(event, Ended):
                    continue
                if event.outcome.status != "stopped":
                    open_ones.discard(number)
                    continue
                again = attempt_at(folder, number, event.attempt + 1, settings[number])
                executor.start(workload, [again])
    finally:
        executor.close()
    return trials


def interrupted(
    executor: Executor, train: Callable[..., None], folder: Path, configuration: Any
) -> int:
    """A first attempt, stopped when its first points have come; the step it saved at."""
    saved, asked = 0, False
    try:
        executor.start(Workload(train, OBJECTIVE), [attempt_at(folder, 0, 1, configuration)])
        while True:
            for event in executor.events(5.0):
                if isinstance(event, Saved):
                    saved = event.step
                if isinstance(event, Ended):
                    assert event.outcome.status == "stopped", event
                    return saved
                if not asked and type(event).__name__ == "Logged":
                    asked = True
                    executor.stop(100, 60.0)
    finally:
        executor.close()


def resumed(
    executor: Executor, train: Callable[..., None], folder: Path, configuration: Any
) -> Curves:
    """The second attempt to its end, and what it logged."""
    trial = Lived(folder / "0")
    try:
        second = attempt_at(folder, 0, 2, configuration)
        executor.start(Workload(train, OBJECTIVE), [second])
        while not trial.ends:
            trial.events += executor.events(5.0)
    finally:
        executor.close()
    assert trial.outcome == "completed"
    return trial.curves
