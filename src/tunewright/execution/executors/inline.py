"""Training in this very process, one trial at a time: for debugging and for tests."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tunewright.execution.executors.executor import Assignment, Ended, Event, Logged, Stepped
from tunewright.execution.handle import Control
from tunewright.execution.processes.attempt import Task, perform
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.outcome import Outcome

GLANCE_S = 1.0


@dataclass
class Inline:
    """Trains inside `events`, in the calling thread, so that debuggers and prints work.

    Nothing is isolated: a crash, a hang or too much memory is this process's own. Events come
    when the trial has ended.
    """

    _waiting: deque[tuple[Workload, Assignment]] = field(
        default_factory=deque, init=False, repr=False, compare=False
    )
    _running: Control | None = field(default=None, init=False, repr=False, compare=False)
    _current: int | None = field(default=None, init=False, repr=False, compare=False)
    _stops: set[int] = field(default_factory=set, init=False, repr=False, compare=False)
    # receives a trial's steps while it trains, from another thread; set by whoever shows them
    watching: Callable[[Stepped], None] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    # receives what a trial logs while it trains, from another thread; set by early stopping
    hearing: Callable[[Logged], None] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @property
    def slots(self) -> int:
        """One."""
        return 1

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Queue these attempts; each is trained by a call of `events`."""
        self._waiting.extend((workload, assignment) for assignment in assignments)

    def events(self, timeout_s: float) -> list[Event]:
        """Train the next trial that waits to its end, and tell all that happened."""
        if not self._waiting:
            time.sleep(timeout_s)
            return []
        workload, assignment = self._waiting.popleft()
        happened: list[Event] = []

        def hear(event: Event) -> None:
            happened.append(event)
            if self.hearing is not None and isinstance(event, Logged):
                self.hearing(event)

        self._current = assignment.trial
        try:
            if assignment.trial in self._stops:
                early = Message("stopped.before_start")
                end = Ended(assignment.trial, assignment.attempt, Outcome("stopped", early))
            else:
                task = Task(workload.train, workload.objective, workload.meaning)
                with self._glances(assignment):
                    end = perform(task, assignment, hear, self._began)
        finally:
            self._running = self._current = None
            self._stops.discard(assignment.trial)
        return [*happened, end]

    @contextlib.contextmanager
    def _glances(self, assignment: Assignment) -> Iterator[None]:
        """Report the trial's step every second while the block trains it."""
        report = self.watching
        if report is None:
            yield
            return
        over = threading.Event()

        def glance() -> None:
            while not over.wait(GLANCE_S):
                if (control := self._running) is not None:
                    run = control.run
                    report(Stepped(assignment.trial, assignment.attempt, run.step, run.total))
                    if self.hearing is not None:
                        control.tell_points()

        thread = threading.Thread(target=glance, name="tunewright steps", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _began(self, control: Control) -> None:
        self._running = control
        if self._current in self._stops:  # asked for while the handle was made
            control.ask_stop()

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save; this process cannot end itself, so there is no grace period.

        It takes no lock: a signal handler may call it, and nothing else can while a trial trains.
        """
        waiting = any(assignment.trial == trial for _, assignment in tuple(self._waiting))
        if waiting or trial == self._current:
            self._stops.add(trial)
        if trial == self._current and self._running is not None:
            self._running.ask_stop()

    def close(self) -> None:
        """Forget the trials that still wait, and who watches."""
        self._waiting.clear()
        self._stops.clear()
        self.watching = self.hearing = None
