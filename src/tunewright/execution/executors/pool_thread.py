"""The one thread that holds a pool's worker processes: it starts, hears and ends them.

A worker dies with the thread that started it, so all work is done by this one. Others speak to it
through two queues: orders, and events. `Pool` and `PackPool` say what is done in a turn.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import selectors
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from tunewright.execution.executors.executor import Assignment, Ended, Event
from tunewright.execution.executors.limits import Limits
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.output import Output
from tunewright.execution.processes.process import WorkerProcess, start_warden
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome

CHECK_S = 0.25  # how often limits are looked at while something trains
# the machine has no descriptor, process or memory left for a worker: that passes
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


@dataclass(eq=False)
class Job:
    """One attempt that is under way."""

    assignment: Assignment
    output: Output
    started: float  # by the monotonic clock, as all times here
    progressed: float  # when a step was last reported
    stop_by: float | None = None  # asked to stop, and ended then

    @property
    def names(self) -> tuple[int, int]:
        """The trial and the attempt, as events carry them."""
        return self.assignment.trial, self.assignment.attempt

    def over(self, limits: Limits, now: float) -> tuple[End, Message] | None:
        """How it ends because its time, or its grace period, has passed; None: it may go on."""
        if self.stop_by is not None and now > self.stop_by:
            return "stopped", Message("stopped.grace_over")
        return limits.verdict(now - self.started, now - self.progressed)

    def cut(self, end: End, cause: Message) -> Outcome:
        """The outcome where it did not report one: with the time since its worker's start."""
        return Outcome(end, cause, seconds=time.monotonic() - self.started)


class Holder(Protocol):
    """What holds a worker process: the seat of a trial, a GPU."""

    worker: WorkerProcess | None

    @property
    def environment(self) -> Mapping[str, str]:
        """What the process finds in its environment."""
        ...


H = TypeVar("H", bound=Holder)


class PoolThread(ABC, Generic[H]):
    """What every pool of worker processes does alike; `begin` starts the thread."""

    mark: str  # in the environment of all that is started
    limits: Limits
    _waiting: deque[Any]  # attempts without a worker, each with what it needs before it

    def begin(self, kind: str) -> None:
        """Start the thread; workers are started when there is work.

        `kind` names the pool in errors and in the list of threads."""
        self._kind = kind
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        self._selector.register(self._wake, selectors.EVENT_READ, self._take_orders)
        self._started = 0  # workers, for their marks
        self._open = True
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._hold, name=f"tunewright {kind}", daemon=True)
        self._thread.start()

    # ---- what a pool does in its thread

    @abstractmethod
    def _patience(self) -> float | None:
        """How long to wait for something to happen; None: until it does."""

    @abstractmethod
    def _turn(self) -> None:
        """Look at limits, fill free places."""

    @abstractmethod
    def _end_all(self) -> None:
        """End every worker and every attempt."""

    @abstractmethod
    def _jobs_of(self, trial: int) -> list[tuple[H, Job]]:
        """Where a trial is under way."""

    @abstractmethod
    def _copy(self, holder: H) -> None:
        """Put what a worker has printed into the logs of its trials."""

    @abstractmethod
    def _listen(self, holder: H) -> None:
        """Handle what a worker has sent."""

    @abstractmethod
    def _on_exit(self, holder: H) -> None:
        """A worker process has ended by itself."""

    # ---- for the supervisor's thread

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it after the grace period."""
        self._order(lambda: self._ask_stop(trial, grace_s))

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened; waits up to `timeout_s` for the first of it."""
        happened: list[Event] = []
        with contextlib.suppress(queue.Empty):
            happened.append(self._events.get(timeout=timeout_s))
            while True:
                happened.append(self._events.get_nowait())
        if not happened and self._failure is not None:
            raise RuntimeError(f"the {self._kind} has failed") from self._failure
        return happened

    def close(self) -> None:
        """End everything, and wait until it is gone."""
        self._order(self._shut)
        self._thread.join()
        os.close(self._wake)
        os.close(self._waker)

    def _order(self, what: Callable[[], None]) -> None:
        self._orders.put(what)
        os.write(self._waker, b"!")

    # ---- the thread

    def _hold(self) -> None:
        warden: subprocess.Popen[bytes] | None = None
        pipe = -1
        try:
            warden, pipe = start_warden(self.mark)
            while self._open:
                for key, _ in self._selector.select(self._patience()):
                    if key.fd in self._selector.get_map():  # an earlier one may have closed it
                        key.data()
                self._turn()
        except BaseException as error:
            self._failure = error
        finally:
            self._end_all()
            if warden is not None:
                os.close(pipe)
                warden.wait()
            self._selector.close()

    def _take_orders(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        with contextlib.suppress(queue.Empty):
            while True:
                self._orders.get_nowait()()

    def _shut(self) -> None:
        self._open = False

    # ---- its attempts

    def _ask_stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it after the grace period."""
        for entry in [entry for entry in self._waiting if entry[-1].trial == trial]:
            self._waiting.remove(entry)
            early = Message("stopped.before_start")
            self._events.put(Ended(trial, entry[-1].attempt, Outcome("stopped", early)))
        for holder, job in self._jobs_of(trial):
            until = time.monotonic() + grace_s
            job.stop_by = min(until, job.stop_by or until)
            self._send(holder, {"kind": "stop", "trial": trial, "attempt": job.names[1]})

    def _open_log(self, assignment: Assignment, hire: Callable[[], None] | None) -> Output | None:
        """The log of an attempt, once `hire` has found it a worker; None: it cannot be started."""
        output = None
        try:
            output = Output(assignment.folder, assignment.attempt)
            if hire is not None:
                hire()
        except OSError as error:  # no such folder, no more processes: not this trial's fault
            if output is not None:
                output.close()
            cause = Message("trial.not_started", {"text": str(error)})
            end = Outcome("stopped" if error.errno in _SCARCE else "died", cause)
            self._events.put(Ended(assignment.trial, assignment.attempt, end))
            return None
        return output

    def _has_ended(self, worker: WorkerProcess) -> bool:
        """Whether it has ended, where the system cannot wake the selector for that."""
        return worker.exit is None and worker.status is not None

    # ---- its workers

    def _employ(self, holder: H, *program: str) -> None:
        """Start a worker, and listen when it has sent something, has printed or has ended."""
        self._started += 1
        worker = WorkerProcess(f"{self.mark}/{self._started}", holder.environment, *program)
        holder.worker = worker
        ready = {worker.messages: self._listen, worker.printed: self._copy}
        if worker.exit is not None:
            ready[worker.exit] = self._on_exit
        for descriptor, handle in ready.items():
            self._selector.register(descriptor, selectors.EVENT_READ, partial(handle, holder))

    def _dismiss(self, holder: H) -> int:
        """End a worker with all it has started; its exit status. What it sent is still read."""
        worker = holder.worker
        assert worker is not None
        for descriptor in (worker.messages, worker.printed, worker.exit, worker.orders):
            if descriptor is not None:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(descriptor)
        status = worker.kill()
        self._copy(holder)
        self._listen(holder)  # its trials may even have ended
        worker.close()
        holder.worker = None
        return status

    def _send(self, holder: H, head: Head, body: bytes = b"") -> None:
        worker = holder.worker
        assert worker is not None
        worker.send(head, body)
        if worker.unsent and worker.orders not in self._selector.get_map():
            rest = partial(self._send_rest, worker)
            self._selector.register(worker.orders, selectors.EVENT_WRITE, rest)

    def _send_rest(self, worker: WorkerProcess) -> None:
        if not worker.send_rest():
            self._selector.unregister(worker.orders)
