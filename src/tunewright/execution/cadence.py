"""Steps never go back within an attempt: the message when they do, and where it happened."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from tunewright.errors import BadValue
from tunewright.messages import Message

_OWN_FOLDER = str(Path(__file__).parent)


def went_back(number: int | None, step: int, after: int, resumed: bool = False) -> BadValue:
    """What ends a trial that logs a step after a later one; a repeat has no number."""
    facts = {"number": number, "step": int(step), "after": int(after), "resumed": resumed}
    return BadValue(
        Message("step.went_back", facts),
        f"  where   {_where()}\n"
        "  cause   steps must grow; often a resume that restarts its counter at 0\n"
        "  try     for step in run.steps(max_train_steps): ...",
    )


def is_ours(frame: FrameType) -> bool:
    """Whether a line of this package runs there, not one of the training program."""
    return frame.f_code.co_filename.startswith(_OWN_FOLDER)


def _where() -> str:
    """The line of the training program that called us, as file:line."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith("<frozen"):
        return "the program's output"  # a command's: below us stands only the interpreter
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


# ---- When to evaluate and when to save: functions of the step alone, so that all trials agree.


EVALUATIONS = 100  # over a whole training
SNAPSHOTS = 10  # periodic ones, over a whole training


def period(max_train_steps: int, times: int) -> int:
    """Every how many steps something happens that should happen about `times` times.

    >>> period(500, EVALUATIONS), period(30, EVALUATIONS)
    (5, 1)
    """
    return max(1, max_train_steps // times)


def due(step: int, max_train_steps: int, times: int) -> bool:
    """Whether it happens at this step: at every multiple of the period, and always at the last.

    >>> [step for step in range(1, 26) if due(step, 25, times=3)]
    [8, 16, 24, 25]
    """
    return step == max_train_steps or step % period(max_train_steps, times) == 0
