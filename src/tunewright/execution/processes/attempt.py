"""One attempt at one trial in this process: train, and report how it ended.

Whatever the training program does short of ending the process comes back as an `Ended`, so one
misbehaving trial never ends a round.
"""

from __future__ import annotations

import errno
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from tunewright.causes import causes
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import BadValue, Diverged, Infeasible, SnapshotError, Stopped
from tunewright.execution.cadence import is_ours
from tunewright.execution.command import Command
from tunewright.execution.current_run import bound
from tunewright.execution.executors.executor import Assignment, Ended, Event
from tunewright.execution.handle import Control, Handle
from tunewright.execution.processes.program import Finished, run_program
from tunewright.execution.processes.surroundings import plant
from tunewright.execution.workload import Train
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome
from tunewright.store.plain_json import clean

LONGEST_CAUSE = 500  # characters of the text of an exception, in the reason
LONGEST_DETAIL = 20_000  # characters of a traceback
# how libraries that have no exception class for it say that memory is used up
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "RESOURCE_EXHAUSTED")


@dataclass(frozen=True)
class Task:
    """What every trial of a workload needs, beside its assignment."""

    train: Train | Command
    objective: Objective
    meaning: Meaning
    devices: tuple[str, ...] = ()


def perform(
    task: Task,
    assignment: Assignment,
    tell: Callable[[Event], None],
    began: Callable[[Control], None] = lambda control: None,
    handle: Callable[..., Handle] = Handle,
) -> Ended:
    """Train once; `tell` receives the events and `began` the control of the attempt."""
    start = time.monotonic()
    end: End
    try:
        run = handle(assignment, task.objective, task.meaning, tell, task.devices)
        control = Control(run)
        began(control)
        end, cause, detail = _train(task, control)
    except Exception as error:  # the trial folder cannot be read, say
        end, cause, detail = judge(error)
    detail, seconds = clean(detail)[-LONGEST_DETAIL:], time.monotonic() - start
    outcome = Outcome(end, cause, detail, seconds=seconds)
    return Ended(assignment.trial, assignment.attempt, outcome)


def _train(task: Task, control: Control) -> tuple[End, Message | None, str]:
    run = control.run
    if run.stop_asked:
        return "stopped", Message("stopped.before_start"), ""
    control.announce()
    plant(run.seeds)
    end: tuple[End, Message | None, str] = ("completed", None, "")
    try:
        if isinstance(task.train, Command):
            run_program(task.train, control)
        else:
            with bound(run):
                task.train(run, **run.configuration)
    except KeyboardInterrupt:
        raise  # meant for this whole process, not for the program
    except BaseException as error:
        end = judge(error)
    try:
        run.flush()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a device that failed, or a loss read only now
        if end[0] == "completed":
            end = judge(error)
    if control.over is not None:  # even if the program caught it and went on
        end = judge(control.over)
        control.over.__traceback__ = None  # it holds the program's frames, with model and data
    return end


def judge(error: BaseException) -> tuple[End, Message, str]:
    """How an exception ends an attempt: end, reason, and the rest of its text.

    >>> judge(Infeasible("heads do not divide width"))[:2]
    ('infeasible', Message(code='trial.infeasible', facts={'text': 'heads do not divide width'}))
    >>> judge(MemoryError())[1].code
    'memory.exhausted'
    >>> end, reason, detail = judge(OSError(errno.ENOSPC, "No space left on device"))
    >>> end, str(reason)
    ('died', 'no space left: OSError: [Errno 28] No space left on device')
    """
    if isinstance(error, Finished):
        return error.outcome, error.reason, ""
    if isinstance(error, Stopped):
        return "stopped", error.reason, ""
    if isinstance(error, Diverged):
        return "infeasible", error.reason, ""
    if isinstance(error, BadValue):
        return "failed", error.reason, error.detail or _traceback(error)
    if isinstance(error, SystemExit):
        called = Message("trial.called_exit", {"status": _line(repr(error.code))})
        return "failed", called, _traceback(error)
    text = _text(error)
    first, _, rest = text.partition("\n")
    if isinstance(error, Infeasible):
        return "infeasible", Message("trial.infeasible", {"text": _line(first)}), rest
    facts = {"type": type(error).__name__, "text": _line(first)}
    if _is_out_of_memory(error, text):
        return "infeasible", Message("memory.exhausted", facts), _traceback(error)
    if _is_full_disk(error):  # not the trial's fault: tried again once there is space
        sizes = [c.facts["needed_mb"] for c in causes(error) if _is_unsaved(c)]
        more = {"needed_mb": sizes[0]} if sizes else {}
        return "died", Message("disk.full", {**facts, **more}), _traceback(error)
    return "failed", Message("trial.raised", facts), _traceback(error)


def _line(text: str) -> str:
    return clean(text)[:LONGEST_CAUSE]


def _text(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:
        return "(its text cannot be made)"


def _is_out_of_memory(error: BaseException, text: str) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in text for words in OUT_OF_MEMORY)


def _is_unsaved(error: BaseException) -> TypeGuard[SnapshotError]:
    return isinstance(error, SnapshotError) and "needed_mb" in error.facts


def _is_full_disk(error: BaseException) -> bool:
    """Whether a full disk, or a used-up quota, is behind an exception."""
    # libraries that write files themselves may say it in words alone
    return any(
        isinstance(cause, OSError)
        and (cause.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(cause))
        for cause in causes(error)
    )


def _traceback(error: BaseException) -> str:
    """The traceback from the first line of the training program on."""
    frames = error.__traceback__
    while frames is not None and is_ours(frames.tb_frame):
        frames = frames.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # a __str__ or __repr__ that raises
        return "".join(traceback.format_tb(frames)) + type(error).__name__
