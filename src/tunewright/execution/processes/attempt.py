"""One attempt at one trial in this process: train, and say how it ended.

Whatever the training program does short of ending the process comes back as an `Ended`, so one
misbehaving trial never ends a round.
"""

from __future__ import annotations

import errno
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import BadValue, Diverged, Infeasible, Stopped
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Assignment, Ended, Event, Outcome
from tunewright.execution.handle import Run
from tunewright.execution.processes.program import Finished, run_program
from tunewright.execution.processes.seeding import plant
from tunewright.execution.step_order import is_ours
from tunewright.execution.workload import Train

LONGEST_CAUSE = 500  # characters of the one line for people
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
    began: Callable[[Run], None] = lambda run: None,
) -> Ended:
    """Train once; `tell` receives the events and `began` the handle, to stop or flush it."""
    start = time.monotonic()
    try:
        run = Run(assignment, task.objective, task.meaning, tell, task.devices)
        began(run)
        outcome, cause, detail = _train(task, run)
    except Exception as error:  # the trial folder cannot be read, say
        outcome, cause, detail = judge(error)
    return Ended(
        assignment.trial,
        assignment.attempt,
        outcome,
        clean(cause)[:LONGEST_CAUSE],
        clean(detail)[-LONGEST_DETAIL:],
        seconds=time.monotonic() - start,
    )


def _train(task: Task, run: Run) -> tuple[Outcome, str, str]:
    if run.stop_asked:
        return "stopped", "stopped before it began", ""
    run.announce()
    plant(run.seeds)
    end: tuple[Outcome, str, str] = ("completed", "", "")
    try:
        if isinstance(task.train, Command):
            run_program(task.train, run)
        else:
            task.train(run, **run.configuration)
    except KeyboardInterrupt:
        raise  # somebody's wish for this whole process, not the program's end
    except BaseException as error:
        end = judge(error)
    try:
        run.flush()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a device that failed, or a loss read only now
        if end[0] == "completed":
            end = judge(error)
    if run.over is not None:  # even if the program caught it and went on
        end = judge(run.over)
        run.over.__traceback__ = None  # it holds the program's frames, with model and data
    return end


def judge(error: BaseException) -> tuple[Outcome, str, str]:
    """How an exception ends an attempt: outcome, one line, and the rest.

    >>> judge(Infeasible("heads do not divide width"))[:2]
    ('infeasible', 'heads do not divide width')
    >>> judge(MemoryError())[:2]
    ('infeasible', 'out of memory: MemoryError')
    >>> judge(SystemExit(2))[:2]
    ('failed', 'the training program called sys.exit(2)')
    >>> judge(OSError(errno.ENOSPC, "No space left on device"))[:2]
    ('died', 'no space left: OSError: [Errno 28] No space left on device')
    """
    text = _text(error)
    first, _, rest = text.partition("\n")
    if isinstance(error, Finished):
        return error.outcome, first, rest
    if isinstance(error, Stopped):
        return "stopped", first, ""
    if isinstance(error, Diverged):
        return "infeasible", first, ""
    if isinstance(error, Infeasible):
        return "infeasible", first or "infeasible, without a reason given", rest
    if isinstance(error, BadValue):
        return "failed", first, rest or _traceback(error)
    if isinstance(error, SystemExit):
        called = f"the training program called sys.exit({error.code!r})"
        return "failed", called, _traceback(error)
    line = f"{type(error).__name__}: {first}" if first else type(error).__name__
    if _is_out_of_memory(error, text):
        return "infeasible", f"out of memory: {line}", _traceback(error)
    if _is_full_disk(error):  # not the trial's fault: tried again once there is space
        return "died", f"no space left: {line}", _traceback(error)
    return "failed", line, _traceback(error)


def clean(text: str) -> str:
    r"""Text that every database holds: no lone surrogates and no NUL.

    >>> clean("a\x00b\ud800")
    'a\\x00b\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _text(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:
        return "(its text cannot be made)"


def _is_out_of_memory(error: BaseException, text: str) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in text for words in OUT_OF_MEMORY)


def _is_full_disk(error: BaseException | None) -> bool:
    """Whether a full disk, or a used-up quota, is behind an exception."""
    while error is not None:
        # libraries that write files themselves may say it in words alone
        if isinstance(error, OSError) and (
            error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _traceback(error: BaseException) -> str:
    """The traceback from the first line of the training program on."""
    frames = error.__traceback__
    while frames is not None and is_ours(frames.tb_frame):
        frames = frames.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # a __str__ or __repr__ that raises
        return "".join(traceback.format_tb(frames)) + type(error).__name__
