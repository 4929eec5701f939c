"""A worker process that trains many trials at once on one GPU, each in a thread.

Started as `python -m tunewright.execution.executors.packed_worker READ WRITE PARENT PYTHONPATH
TRIALS DEVICE`. Everything of a trial is sent with its names; what a trial does before it is clear
that its steps can be captured is held back, so that it can still start anew in its own process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

from tunewright.errors import need
from tunewright.execution.executors.executor import Assignment, as_assignment
from tunewright.execution.executors.packed_lane import Pack, TrialLane
from tunewright.execution.handle import Control, Handle
from tunewright.execution.processes.attempt import Task, judge, perform
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.pipe_worker import (
    BEAT_S,
    TELL_S,
    PipeWorker,
    StopRequests,
    Telling,
    forget_our_path,
    show_lines,
    teller,
    tie_to,
)
from tunewright.execution.processes.worker import task_of
from tunewright.store.outcome import Outcome, outcome_data

TRIAL = "tunewright trial"  # pipeline.capture knows the threads by it
NO_LOOP = "its loop is not pipeline.fit"
_SWITCH_S = 2e-5  # the driver waits at most this long for Python; 5 ms would starve the GPU
_BROKEN = 70  # exit status: the GPU's context is lost, for all trials


class LaneRun(Handle):
    """The handle of a trial in a pack: a loop that is not captured leaves it at its first step."""

    lane: TrialLane

    def steps(self, max_train_steps: int | None = None) -> Any:
        """As `Run.steps`, for trials that stay in the pack."""
        self._stay()
        return super().steps(max_train_steps)

    def log(self, step: int, metrics: Any = None, **named: Any) -> None:
        """As `Run.log`, for trials that stay in the pack."""
        self._stay()
        self.lane.logged = True
        super().log(step, metrics, **named)

    def log_steps(self, steps: Sequence[int], metrics: Mapping[str, Sequence[float]]) -> None:
        """As `Run.log_steps`, for trials that stay in the pack."""
        self._stay()
        self.lane.logged = True
        super().log_steps(steps, metrics)

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """As `Run.save`, for trials that stay in the pack."""
        self._stay()
        super().save(state, step, best=best)

    def _stay(self) -> None:
        if not self.lane.entered:
            self.lane.refuse(NO_LOOP)


@dataclass(eq=False)
class _Attempt:
    """One trial under way."""

    assignment: Assignment
    lane: TrialLane
    seat: int
    control: Control | None = None
    held: list[tuple[Head, bytes]] = field(default_factory=list)  # not sent before it is admitted
    telling: Telling = field(default_factory=Telling)
    sending: threading.Lock = field(default_factory=threading.Lock)

    @property
    def names(self) -> tuple[int, int]:
        """The trial and the attempt."""
        return self.assignment.trial, self.assignment.attempt


class PackWorker(PipeWorker):
    """The process's state: the pack, and the attempts under way."""

    def __init__(self, source: int, target: int, pack: Pack) -> None:
        """Listen on one pipe, speak on the other."""
        super().__init__(source, target)
        self._pack = pack
        self._tasks: dict[int, Task | Outcome] = {}
        self._attempts: dict[int, _Attempt] = {}  # by trial
        self._stops = StopRequests()
        self._seats = list(range(pack.trials))[::-1]
        self.here = threading.local()  # the attempt of a trial's thread

    def work(self) -> NoReturn:
        """Train until the supervisor goes away."""
        self.begin(self._keep_telling)
        while True:
            head, body = self._orders.get()
            if head["kind"] == "load":
                self._tasks[head["load"]] = task_of(head, body)
                continue
            seat = self._seats.pop()
            attempt = _Attempt(as_assignment(head["assignment"]), self._pack.lane(seat), seat)
            self._attempts[attempt.assignment.trial] = attempt
            threading.Thread(
                target=self._train,
                args=(self._tasks[head["load"]], attempt),
                name=f"{TRIAL} {attempt.assignment.number}",
                daemon=True,
            ).start()

    # ---- the threads beside the trials

    def _at_once(self, head: Head) -> bool:
        if head["kind"] != "stop":
            return False
        attempt = self._attempts.get(head["trial"])
        self._stops.ask(head, None if attempt is None else attempt.control)
        return True

    def _keep_telling(self) -> None:
        paced, steps = time.monotonic(), self._pack.steps
        while True:
            time.sleep(TELL_S)
            if (seconds := time.monotonic() - paced) > BEAT_S:
                paced, before, steps = paced + seconds, steps, self._pack.steps
                if self._attempts:
                    about = {"kind": "pace", "steps": steps - before, "seconds": seconds}
                    self._sender.send(about, b"")
            for attempt in list(self._attempts.values()):
                if (control := attempt.control) is not None:
                    attempt.telling.tell(control, teller(partial(self._send, attempt)))

    # ---- a trial's thread

    def _train(self, task: Task | Outcome, attempt: _Attempt) -> None:
        self.here.attempt = attempt
        lane = attempt.lane
        ended = self._perform(task, attempt) if isinstance(task, Task) else task
        attempt.control = None
        self._check_device()
        crowded = len(self._attempts) > 1 and _out_of_memory(ended)
        del self._attempts[attempt.assignment.trial]
        self._seats.append(attempt.seat)
        if lane.refused is not None:
            about: Head = {"kind": "refused", "reason": lane.refused}
            attempt.held.clear()
        elif crowded:
            about = {"kind": "crowded", "beside": len(self._attempts)}
        else:
            about = {"kind": "ended", "outcome": outcome_data(ended)}
        lane.admitted = True  # what was held back is sent first
        self._send(attempt, about)

    def _perform(self, task: Task, attempt: _Attempt) -> Outcome:
        def began(control: Control) -> None:
            attempt.control = control
            self._stops.began(control)

        def handle(*arguments: Any) -> Handle:
            run = LaneRun(*arguments)
            run.lane = attempt.lane
            return run

        try:
            with attempt.lane.holding():
                tell = teller(partial(self._send, attempt))
                return perform(task, attempt.assignment, tell, began, handle).outcome
        except BaseException as error:  # the hand-over itself failed: so has the device
            return Outcome(*judge(error))

    def _check_device(self) -> None:
        """After an illegal access every call fails, in all trials: only a new process helps."""
        if self._pack.on_cpu:
            return
        try:
            self._pack.torch.cuda.current_stream().synchronize()
        except Exception as error:
            print(f"tunewright: the GPU's context is lost: {error}", file=sys.__stderr__)
            os._exit(_BROKEN)

    def _send(self, attempt: _Attempt, head: Head, body: bytes = b"") -> None:
        trial, number = attempt.names
        message = {**head, "trial": trial, "attempt": number}
        with attempt.sending:
            attempt.held.append((message, body))
            if attempt.lane.admitted:
                for each in attempt.held:
                    self._sender.send(*each)
                attempt.held.clear()

    def printed(self, text: str) -> bool:
        """Send what a trial printed; False from another thread."""
        attempt = getattr(self.here, "attempt", None)
        if attempt is None:
            return False
        self._send(attempt, {"kind": "printed"}, text.encode("utf-8", "backslashreplace"))
        return True


class Printed:
    """Takes the place of stdout and stderr: what a trial's thread prints is that trial's."""

    def __init__(self, worker: PackWorker, stream: Any) -> None:
        """`stream` takes what no trial has printed."""
        self._worker, self._stream = worker, stream

    def write(self, text: str) -> int:
        """Print."""
        if not self._worker.printed(text):
            self._stream.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's."""
        return getattr(self._stream, name)


def _out_of_memory(ended: Outcome) -> bool:
    return ended.reason is not None and ended.reason.code == "memory.exhausted"


def _wake_gpu() -> None:
    """Make the GPU's context, which torch then finds, while torch is imported."""
    with contextlib.suppress(Exception):  # torch reports what is wrong
        cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0:
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)


def _import_ahead() -> None:
    """What every trial needs, while the first one loads its data; optimizers need the compiler."""
    for name in ("torch._dynamo", "tunewright.pipeline"):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()  # modules are never garbage: no collection looks at them again
    gc.enable()


def main(arguments: list[str]) -> NoReturn:
    """Begin to work."""
    source, target, parent = (int(argument) for argument in arguments[:3])
    tie_to(parent)
    forget_our_path(arguments[3])
    show_lines()
    sys.setswitchinterval(_SWITCH_S)
    gc.disable()  # importing makes a million objects and no garbage
    on_cpu = arguments[5] == "cpu"
    if not on_cpu:
        threading.Thread(target=_wake_gpu, daemon=True).start()
    torch: Any = need("torch", extra="torch", purpose="a pack of trials")
    if not on_cpu:
        threading.Thread(target=_import_ahead, daemon=True).start()
        torch.cuda.init()
        torch.zeros(1, device="cuda")
    else:
        gc.enable()
    worker = PackWorker(source, target, Pack(torch, int(arguments[4]), on_cpu))
    for name in ("stdout", "stderr"):
        setattr(sys, name, Printed(worker, getattr(sys, name)))
    worker.work()


if __name__ == "__main__":
    main(sys.argv[1:])
