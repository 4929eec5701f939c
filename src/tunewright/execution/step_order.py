"""Steps never go back within an attempt: what is said when they do, and where it happened."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

OWN_FOLDER = str(Path(__file__).parent)


def went_back(trial: str, step: int, after: str) -> str:
    """The message for a step logged after a later one; its first line is the trial's reason."""
    return (
        f"{trial} logged step {step} after {after} within one attempt\n"
        f"  where   {_where()}\n"
        "  cause   steps must grow; often a resume that restarts its counter at 0\n"
        "  try     for step in run.steps(max_train_steps): ..."
    )


def is_ours(frame: FrameType) -> bool:
    """Whether a line of this package runs there, not one of the training program."""
    return frame.f_code.co_filename.startswith(OWN_FOLDER)


def _where() -> str:
    """The line of the training program that called us, as file:line."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith("<frozen"):
        return "the program's output"  # a command's: below us stands only the interpreter
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
