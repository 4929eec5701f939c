"""A worker process: trains what its supervisor sends, one trial after the other, and reports.

Started as `python -m tunewright.execution.processes.worker READ WRITE PARENT PYTHONPATH`, with
two pipes. It ends with everything it has started when the supervisor's pipe closes, so that a
killed supervisor leaves nothing behind; on Linux the kernel sees to it too.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from dataclasses import replace
from typing import Any, NoReturn

from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Assignment, as_assignment
from tunewright.execution.growing_file import GrowingFile
from tunewright.execution.handle import Control
from tunewright.execution.processes import memory, process_tree, surroundings
from tunewright.execution.processes.attempt import Task, judge, perform
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.pipe_worker import (
    TELL_S,
    PipeWorker,
    StopRequests,
    Telling,
    forget_our_path,
    show_lines,
    teller,
    tie_to,
)
from tunewright.execution.processes.shipping import Shipment, receive
from tunewright.messages import Message
from tunewright.store.outcome import Outcome, outcome_data
from tunewright.store.plain_json import clean, meaning_from, objective_from

PARENT_HEARS_SIGTERM = "TUNEWRIGHT_PARENT_HEARS_SIGTERM"  # set by executors that pass it on


class Worker(PipeWorker):
    """The worker's own state: what it trains, and the handle of the current trial."""

    def __init__(self, source: int, target: int) -> None:
        """Listen on one pipe, speak on the other."""
        super().__init__(source, target)
        self._task: Task | Outcome | None = None
        self._control: Control | None = None
        self._stops = StopRequests()
        self._before: dict[str, object] = {}

    def work(self) -> NoReturn:
        """Train until the supervisor goes away."""
        self.begin(self._keep_telling)
        while True:
            head, body = self._orders.get()
            if head["kind"] == "load":
                self._load(head, body)
            else:
                self._attempt(as_assignment(head["assignment"]))

    # ---- beside the training

    def _at_once(self, head: Head) -> bool:
        if head["kind"] != "stop":
            return False
        self._stops.ask(head, self._control)
        return True

    def _keep_telling(self) -> None:
        telling, tell = Telling(), teller(self._sender.send)
        while True:
            time.sleep(TELL_S)
            if (control := self._control) is not None:
                telling.tell(control, tell)

    # ---- orders

    def _load(self, head: Head, body: bytes) -> None:
        """Build the training function once, before its first trial."""
        self._task = task_of(head, body)
        self._before = surroundings.look()

    def _attempt(self, assignment: Assignment) -> None:
        memory.forget_peak()
        if isinstance(self._task, Task):
            tell = teller(self._sender.send)
            outcome = perform(self._task, assignment, tell, self._began).outcome
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
        self._stops.began(control)

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
        left += surroundings.differences(self._before, surroundings.look())
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
            fields = head["command"]
            file = GrowingFile(**fields["file"]) if fields["file"] else None
            train = Command(**{**fields, "file": file})
        else:
            path, folder = tuple(head["path"]), head["folder"]
            train = receive(Shipment(path, folder, head["module"], head["name"], body))
        objective, meaning = objective_from(head["objective"]), meaning_from(head["meaning"])
        return Task(train, objective, meaning, tuple(head["devices"]))
    except (Exception, SystemExit) as error:
        end, cause, detail = judge(error)
        reason = Message("trial.not_loaded", {"cause": cause.to_data()})
        return Outcome(end, reason, clean(detail))


def main(arguments: list[str]) -> NoReturn:
    """Begin to work."""
    source, target, parent = (int(argument) for argument in arguments[:3])
    tie_to(parent)
    if os.environ.pop(PARENT_HEARS_SIGTERM, ""):
        # a batch system sends it to every process: ours is asked by its parent to save
        signal.signal(signal.SIGTERM, lambda number, frame: None)
    forget_our_path(arguments[3])
    show_lines()
    Worker(source, target).work()


if __name__ == "__main__":
    main(sys.argv[1:])
