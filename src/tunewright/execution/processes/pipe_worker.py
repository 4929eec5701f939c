"""What every worker process does alike: two pipes, orders in a thread, and an end with its owner.

Workers of trials, of packs and of probes are started by `start_worker` (`process.py`) with the ends
of two pipes as their first arguments. A worker ends, with everything it has started, when the pipe
of its orders closes.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from tunewright.execution.executors.executor import Event, Stepped
from tunewright.execution.handle import Control
from tunewright.execution.processes import process_tree
from tunewright.execution.processes.frames import Head, Receiver, Sender, as_frame

TELL_S = 0.2  # points wait this long for company
BEAT_S = 1.0  # a step without any point is sent this often
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl


class PipeWorker:
    """A process that obeys orders from one pipe and sends messages through another."""

    def __init__(self, source: int, target: int) -> None:
        """Listen on one pipe, speak on the other; what it starts inherits neither."""
        for descriptor in (source, target):
            os.set_inheritable(descriptor, False)
        self._source = source
        self._sender = Sender(target)
        self._orders: queue.SimpleQueue[tuple[Head, bytes]] = queue.SimpleQueue()

    def begin(self, *beside: Callable[[], None]) -> None:
        """Receive orders in a thread, and do `beside` in others."""
        for target in (self._listen, *beside):
            threading.Thread(target=target, daemon=True).start()

    def _at_once(self, head: Head) -> bool:
        """Whether an order was obeyed as it came; the others wait for their turn."""
        del head
        return False

    def _listen(self) -> None:
        receiver = Receiver()
        while chunk := os.read(self._source, 2**16):
            for head, body in receiver.feed(chunk):
                if not self._at_once(head):
                    self._orders.put((head, body))
        perish()


class StopRequests:
    """Attempts that were asked to stop, some before they began."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self._requests: set[tuple[int, int]] = set()  # trial and attempt

    def ask(self, head: Head, control: Control | None) -> None:
        """An order to stop came; `control` is of the attempt at that trial, if it has begun."""
        names = head["trial"], head["attempt"]
        self._requests.add(names)
        if control is not None and control.names == names:
            control.ask_stop()

    def began(self, control: Control) -> None:
        """An attempt has begun: it may have been asked to stop before."""
        if control.names in self._requests:
            control.ask_stop()


@dataclass
class Telling:
    """What was last sent of an attempt's progress."""

    step: int = -1
    at: float = 0.0

    def tell(self, control: Control, send: Callable[[Event], None]) -> None:
        """Send the points that wait, and the step where it is new; without a reader, end."""
        run = control.run
        try:
            control.tell_points()
            if run.step != self.step and time.monotonic() - self.at > BEAT_S:
                self.step, self.at = run.step, time.monotonic()
                send(Stepped(*control.names, self.step, run.total))
        except OSError:
            perish()


def teller(send: Callable[[Head, bytes], None]) -> Callable[[Event], None]:
    """What an attempt reports its events to, sent as frames."""

    return lambda event: send(*as_frame(event))


def perish() -> NoReturn:
    """End everything this process has started, and itself."""
    process_tree.kill_children()
    process_tree.kill_group(os.getpid())
    os._exit(1)


def tie_to(parent: int) -> None:
    """Die with the parent, and adopt the orphans of our children so that none gets away."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        perish()  # it went before we could be tied to it


def forget_our_path(given: str) -> None:
    """Give PYTHONPATH back: what the training program starts should not find this package by us."""
    os.environ["PYTHONPATH"] = given
    if not given:
        del os.environ["PYTHONPATH"]


def show_lines() -> None:
    """Print line by line, so that what was printed before a crash is in the log."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        reconfigured: Any = stream
        with contextlib.suppress(Exception):
            reconfigured.reconfigure(line_buffering=True, errors="backslashreplace")
