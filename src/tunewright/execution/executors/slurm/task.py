"""One task of an array job: trains one trial on its node and reports through files.

Started by Slurm as `python -m tunewright.execution.executors.slurm.task FOLDER`. The trial runs in
the pool of `Local`, with one seat, so that limits, logs and the end of what it started are the same
as on one machine. SIGUSR1 (before the time limit) and SIGTERM (pre-emption, scancel) ask the trial
to save; the supervisor then submits its next attempt. The job's shell hears SIGUSR1 and leaves a
file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tunewright.execution.executors import devices
from tunewright.execution.executors.executor import Assignment, Ended
from tunewright.execution.executors.pool import Pool, Seat
from tunewright.execution.executors.slurm.job import ALIVE, INDEX, Batch, Order, newest
from tunewright.execution.executors.slurm.mailbox import Outbox
from tunewright.execution.processes.worker import PARENT_HEARS_SIGTERM
from tunewright.messages import Message

LOOK_S = 0.25  # how often the supervisor's files are looked at
_HEARD_S = 2.0  # within which every process of a job hears a signal
TERM_GRACE_S = 20.0  # Slurm kills 30 s after SIGTERM unless the cluster sets another KillWait


@dataclass(eq=False)
class Watch:
    """What asks this task to stop: a signal, the supervisor, or the lack of one."""

    batch: Batch
    index: int
    assignment: Assignment
    order: Order
    signals: list[int] = field(default_factory=list)
    _beat: bytes = b""
    _beat_at: float = field(default_factory=time.monotonic)

    def hear(self, number: int, frame: object) -> None:
        """Take a signal; the main loop acts on it."""
        self.signals.append(number)

    def asks(self) -> tuple[Message, float] | None:
        """Why to stop and within which time, or None."""
        if not self._is_newest():
            return Message("slurm.superseded"), 0.0
        with contextlib.suppress(OSError, ValueError):
            text = self.batch.stop_file(self.index).read_text()
            return Message("stopped.asked"), float(text)
        if signal.SIGTERM in self.signals:
            return Message("slurm.terminated"), TERM_GRACE_S
        if signal.SIGUSR1 in self.signals or self.batch.warning_file(self.index).exists():
            return Message("slurm.time_limit"), 0.8 * self.order.notice_s
        if self._orphaned():
            return Message("slurm.orphaned"), TERM_GRACE_S
        return None

    def _is_newest(self) -> bool:
        """Whether no later attempt of the trial was submitted meanwhile."""
        try:
            claim = newest(self.assignment.folder).read_text()
        except OSError:
            return True
        return claim == f"{self.assignment.attempt} {self.batch.folder.name}"

    def _orphaned(self) -> bool:
        """Whether the supervisor has shown no sign of life for long, by this node's clock."""
        now = time.monotonic()
        with contextlib.suppress(OSError):
            beat = (self.batch.folder / ALIVE).read_bytes()
            if beat != self._beat:
                self._beat, self._beat_at = beat, now
        return now - self._beat_at > self.order.orphan_s


def train(watch: Watch, pool: Pool, outbox: Outbox) -> Ended:
    """Report what happens until the trial has ended."""
    why: Message | None = None
    while True:
        stopping = watch.asks()
        if stopping is not None and (why is None or stopping[1] == 0):
            why = stopping[0] if why is None else why
            pool.stop(watch.assignment.trial, stopping[1])
        for event in pool.events(LOOK_S):
            if isinstance(event, Ended):
                return _with_reason(event, why or _preemption(event, watch))
            outbox.append(event)


def _preemption(ended: Ended, watch: Watch) -> Message | None:
    """Why a trial ended that SIGTERM killed: Slurm sends it to every process of a job.

    The trial's process may be gone before this one hears the signal.
    """
    if not _by_sigterm(ended):
        return None
    until = time.monotonic() + _HEARD_S
    while signal.SIGTERM not in watch.signals and time.monotonic() < until:
        time.sleep(LOOK_S / 5)
    return Message("slurm.terminated") if signal.SIGTERM in watch.signals else None


def _by_sigterm(ended: Ended) -> bool:
    name = signal.SIGTERM.name
    reason = ended.outcome.reason
    return reason is not None and reason.facts.get("signal") == name


def _with_reason(ended: Ended, why: Message | None) -> Ended:
    """The end of a trial that was asked to stop, with the reason that Slurm gave.

    One that SIGTERM ended before it could save is no death either: it resumes from its last save.
    """
    if why is None or why.code == "stopped.asked":
        return ended
    if ended.outcome.status == "died" and why.code == "slurm.terminated" and _by_sigterm(ended):
        return replace(ended, outcome=replace(ended.outcome, status="stopped", reason=why))
    if ended.outcome.status == "stopped":
        return replace(ended, outcome=replace(ended.outcome, reason=why))
    return ended


def main(arguments: list[str], index: int | None = None) -> int:
    """Train the trial of this task."""
    batch = Batch(Path(arguments[0]))
    place = int(os.environ[INDEX]) if index is None else index
    if not batch.begin(place):
        return 0  # the supervisor submits the trial's next attempt
    load, assignment, order = batch.read(place)
    watch = Watch(batch, place, assignment, order)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, watch.hear)
    gpus = devices.visible_devices() if order.gpus else ()
    environment = {"OMP_NUM_THREADS": str(devices.cores()), **os.environ}
    environment[PARENT_HEARS_SIGTERM] = "1"
    if not order.gpus:
        environment[devices.VISIBLE] = ""
    outbox = Outbox(batch.mailbox(place))
    pool = Pool([Seat(gpus, environment)], order.limits, "always")
    with _closing(pool.close), _closing(outbox.close):
        pool.start(load, [assignment])
        outbox.append(train(watch, pool, outbox))
        outbox.sync()
    return 0


@contextlib.contextmanager
def _closing(close: Callable[[], None]):  # type: ignore[no-untyped-def]
    try:
        yield
    finally:
        close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
