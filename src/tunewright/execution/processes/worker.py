"""A worker process: trains what its supervisor sends, one trial after the other, and reports.

Started as `python -m tunewright.execution.processes.worker READ WRITE PARENT PYTHONPATH`, with
two pipes. It ends with everything it has started when the supervisor's pipe closes, so that a
killed supervisor leaves nothing behind; on Linux the kernel sees to it too.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import (
    Assignment,
    Event,
)
from tunewright.execution.growing_file import GrowingFile
from tunewright.execution.handle import Control
from tunewright.execution.processes import memory, process_tree, surroundings
from tunewright.execution.processes.attempt import Task, clean, judge, perform
from tunewright.execution.processes.event_frames import as_frame
from tunewright.execution.processes.frames import Head, Receiver, Sender
from tunewright.execution.processes.shipping import Shipment, receive
from tunewright.messages import Message
from tunewright.store.outcome import Outcome, outcome_data

PARENT_HEARS_SIGTERM = "TUNEWRIGHT_PARENT_HEARS_SIGTERM"  # set by executors that pass it on
TELL_S = 0.2  # points wait this long for company
BEAT_S = 1.0  # a step without any point is sent this often
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl


class Worker:
    """The worker's own state: the pipes, what it trains, and the handle of the current trial."""

    def __init__(self, source: int, target: int) -> None:
        """Listen on one pipe, speak on the other."""
        self._source = source
        self._sender = Sender(target)
        self._orders: queue.SimpleQueue[tuple[Head, bytes]] = queue.SimpleQueue()
        self._task: Task | Outcome | None = None
        self._control: Control | None = None
        self._stops: set[tuple[int, int]] = set()  # trial and attempt, asked before it began
        self._before: dict[str, object] = {}

    def work(self) -> NoReturn:
        """Train until the supervisor goes away."""
        for target in (self._listen, self._keep_telling):
            threading.Thread(target=target, daemon=True).start()
        while True:
            head, body = self._orders.get()
            if head["kind"] == "load":
                self._load(head, body)
            else:
                self._attempt(as_assignment(head["assignment"]))

    # ---- the two threads

    def _listen(self) -> None:
        receiver = Receiver()
        while chunk := os.read(self._source, 2**16):
            for head, body in receiver.feed(chunk):
                if head["kind"] == "stop":
                    self._stop(head["trial"], head["attempt"])
                else:
                    self._orders.put((head, body))
        perish()

    def _stop(self, trial: int, attempt: int) -> None:
        self._stops.add((trial, attempt))
        if (control := self._control) is not None and control.is_of(trial, attempt):
            control.ask_stop()

    def _keep_telling(self) -> None:
        told, told_at = -1, 0.0
        while True:
            time.sleep(TELL_S)
            control = self._control
            if control is None:
                continue
            run = control.run
            try:
                control.tell_points()
                if run.step != told and time.monotonic() - told_at > BEAT_S:
                    told, told_at = run.step, time.monotonic()
                    self._sender.send({"kind": "step", "step": told, "total": run.total})
            except OSError:
                perish()

    # ---- orders

    def _load(self, head: Head, body: bytes) -> None:
        """Build the training function once, before its first trial."""
        self._task = task_of(head, body)
        self._before = surroundings.look()

    def _attempt(self, assignment: Assignment) -> None:
        memory.forget_peak()
        if isinstance(self._task, Task):
            outcome = perform(self._task, assignment, self._tell, self._began).outcome
        else:
            assert self._task is not None
            outcome = self._task
        self._control = None
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the program may have closed or replaced it
                stream.flush()
        left = self._left_behind(outcome)
        outcome = replace(outcome, peak_memory_mb=memory.own_peak_mb())
        self._sender.send({"kind": "ended", "outcome": outcome_data(outcome), "left": left})

    def _began(self, control: Control) -> None:
        self._control = control
        if any(control.is_of(*asked) for asked in self._stops):
            control.ask_stop()

    def _tell(self, event: Event) -> None:
        frame = as_frame(event)
        if frame is not None:
            self._sender.send(*frame)

    def _left_behind(self, outcome: Outcome) -> list[str]:
        """What makes this process unfit for another trial; what still runs below it is ended."""
        left = []
        if process_tree.has_children():
            if process_tree.kill_children():
                left.append("processes that it started")
            process_tree.reap()
        out_of_memory = outcome.reason is not None and outcome.reason.code == "memory.exhausted"
        if outcome.status == "failed" or out_of_memory:
            left.append(outcome.status)
        left += surroundings.changed(self._before, surroundings.look())
        torch: Any = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            gc.collect()
            torch.cuda.empty_cache()  # the next trial, or a neighbour on the device, may need it
        return left


def task_of(head: Head, body: bytes) -> Task | Outcome:
    """The training function or command that a supervisor sent, or why it cannot be loaded."""
    try:
        train: Any
        if "command" in head:
            os.chdir(head["folder"])
            train = Command(
                head["command"],
                head["booleans"],
                read=tuple(head.get("read", ())),
                within=head.get("within", ""),
                file=GrowingFile(**head["file"]) if head.get("file") else None,
            )
        else:
            path, folder = tuple(head["path"]), head["folder"]
            train = receive(Shipment(path, folder, head["module"], head["name"], body))
        about = Objective(**head["objective"]), Meaning(**head["meaning"])
        return Task(train, *about, tuple(head["devices"]))
    except (Exception, SystemExit) as error:
        end, cause, detail = judge(error)
        reason = Message("trial.not_loaded", {"cause": cause.to_data()})
        return Outcome(end, reason, clean(detail))


def perish() -> NoReturn:
    """End everything this process has started, and itself."""
    process_tree.kill_children()
    process_tree.kill_group(os.getpid())
    os._exit(1)


def as_assignment(fields: dict[str, Any]) -> Assignment:
    """An assignment out of plain data."""
    return Assignment(**{**fields, "folder": Path(fields["folder"])})


def as_fields(assignment: Assignment) -> dict[str, Any]:
    """An assignment as plain data for the pipe."""
    return {**asdict(assignment), "folder": str(assignment.folder)}


def tie_to(parent: int) -> None:
    """Die with the parent, and adopt the orphans of our children so that none gets away."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        perish()  # it went before we could be tied to it


def main(arguments: list[str]) -> NoReturn:
    """Begin to work."""
    source, target, parent = (int(argument) for argument in arguments[:3])
    tie_to(parent)
    if os.environ.pop(PARENT_HEARS_SIGTERM, ""):
        # a batch system sends it to every process: ours is asked by its parent to save
        signal.signal(signal.SIGTERM, lambda number, frame: None)
    # what the training program starts should not find our package for having come through us
    os.environ["PYTHONPATH"] = arguments[3]
    if not arguments[3]:
        del os.environ["PYTHONPATH"]
    for descriptor in (source, target):
        os.set_inheritable(descriptor, False)
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        # line by line, so that what was printed before a crash is in the log
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    Worker(source, target).work()


if __name__ == "__main__":
    main(sys.argv[1:])
