"""The one thread that holds a pool's worker processes: it starts, hears and ends them.

A worker dies with the thread that started it, so all work is done by this one. Others speak to it
through two queues: orders, and events. `Pool` and `PackPool` say what is done in a turn.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from tunewright.execution.executors.executor import Event
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.process import WorkerProcess, start_warden


class PoolThread(ABC):
    """What every pool of worker processes does alike; `begin` starts the thread."""

    mark: str  # in the environment of all that is started

    def begin(self, kind: str) -> None:
        """Start the thread; workers are started when there is work.

        `kind` names the pool in errors and in the list of threads."""
        self._kind = kind
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        self._selector.register(self._wake, selectors.EVENT_READ, self._heard)
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
    def _ask_stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end it after the grace period."""

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

    def _heard(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        with contextlib.suppress(queue.Empty):
            while True:
                self._orders.get_nowait()()

    def _shut(self) -> None:
        self._open = False

    # ---- its workers

    def _new_mark(self) -> str:
        self._started += 1
        return f"{self.mark}/{self._started}"

    def _watch(
        self,
        worker: WorkerProcess,
        listen: Callable[[], None],
        copy: Callable[[], None],
        gone: Callable[[], None],
    ) -> None:
        """Call these when it has sent something, has printed something, or has ended."""
        self._selector.register(worker.messages, selectors.EVENT_READ, listen)
        self._selector.register(worker.printed, selectors.EVENT_READ, copy)
        if worker.exit is not None:
            self._selector.register(worker.exit, selectors.EVENT_READ, gone)

    def _kill(self, worker: WorkerProcess) -> int:
        """End it with all that it has started; its exit status. What it sent can still be read."""
        for descriptor in (worker.messages, worker.printed, worker.exit, worker.orders):
            if descriptor is not None:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(descriptor)
        return worker.kill()

    def _send_to(self, worker: WorkerProcess, head: Head, body: bytes = b"") -> None:
        worker.send(head, body)
        if worker.unsent and worker.orders not in self._selector.get_map():
            rest = lambda: self._send_rest(worker)  # noqa: E731
            self._selector.register(worker.orders, selectors.EVENT_WRITE, rest)

    def _send_rest(self, worker: WorkerProcess) -> None:
        if not worker.send_rest():
            self._selector.unregister(worker.orders)
