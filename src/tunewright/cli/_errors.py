"""How an error is told: what happened, where, the likely cause, the next command.

Never a bare traceback: one that nobody foresaw is kept in a file whose path is printed. The exit
codes of every command are decided here too.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tunewright.errors import (
    Busy,
    Damaged,
    DesignError,
    MissingExtra,
    Misuse as Misuse,
    NotFound,
    PipelineError,
    StoreError,
    TunewrightError,
    WorkloadError,
)
from tunewright.messages import words
from tunewright.present.terminal.toml_words import as_toml

FINE = 0  # infeasible and failed trials included
WARNED = 1  # from `check` alone: something of the checklist warns
WRONG_USE = 2  # a misspelt option, round file, name or workload
UNFINISHED = 3  # the round could not be finished, or every trial failed
INTERRUPTED = 130  # Ctrl-C, SIGTERM, or `tunewright stop`

# what helps when something is not there, by words of the message
NOT_THERE = {
    "no store at": "tunewright run ROUND makes it; --store FILE names another",
    " has no trial ": "tunewright show ROUND lists the best of each study; tunewright export all",
    "holds no rounds yet": "tunewright run ROUND, or --store FILE for another store",
    "It has none yet": "tunewright run ROUND, or --store FILE for another store",
    "no round": "tunewright ls",
    "is not in": "tunewright ls",
}
WRONG = (DesignError, WorkloadError, NotFound, MissingExtra, PipelineError)


@dataclass(frozen=True)
class Problem:
    """An error as people read it."""

    what: str  # one sentence, or one line for each of several problems
    where: str = ""  # file and line
    cause: str = ""  # the likely one
    remedy: str = ""  # the next command, or the line to write
    exit_code: int = WRONG_USE


def explain(error: BaseException) -> Problem:
    """The problem behind an exception.

    >>> explain(NotFound("no round called 'dept'; did you mean 'depth'?")).remedy
    'tunewright ls'
    """
    if isinstance(error, Misuse):
        return Problem(str(error), error.where, error.cause, error.remedy)
    if hasattr(error, "format_message"):  # raised by typer for a wrong option or argument
        return _usage(error)
    if isinstance(error, TunewrightError):
        code = WRONG_USE if isinstance(error, WRONG) else UNFINISHED
        return Problem(str(error), remedy=_next(error), exit_code=code)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return Problem(
        f"{type(error).__name__}: {error}",
        where="".join(f"{frame.filename}:{frame.lineno}" for frame in last),
        cause="not foreseen: the machine, or a fault of tunewright",
        remedy="tunewright doctor",
        exit_code=UNFINISHED,
    )


def tell(error: BaseException, console: Console) -> int:
    """Print the problem behind an exception, and return the exit code."""
    problem = explain(error)
    what = as_toml(problem.what)
    first, *more = [line for line in what.splitlines() if line.strip()] or ["no reason"]
    lines = [Text.assemble(("error: ", "bold red"), words.printable(first))]
    lines += [Text(f"       {words.printable(line.strip())}") for line in more]
    kept = "" if _foreseen(error) else str(_keep(error))
    for label, text in (
        ("where", problem.where),
        ("cause", problem.cause),
        ("trace", kept),
        ("try", problem.remedy),
    ):
        if text:
            lines.append(Text.assemble(("  " + label.ljust(8), "dim"), words.printable(text)))
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
    return problem.exit_code


def _foreseen(error: BaseException) -> bool:
    return isinstance(error, TunewrightError) or hasattr(error, "format_message")


def _next(error: TunewrightError) -> str:
    """The command that helps most often; the message itself may say more."""
    if isinstance(error, NotFound):
        return next((remedy for words, remedy in NOT_THERE.items() if words in str(error)), "")
    if isinstance(error, Busy):
        return "tunewright worker ROUND to join it, or tunewright stop ROUND"
    if isinstance(error, Damaged):
        return "tunewright restore"
    if isinstance(error, StoreError):
        return "tunewright doctor"
    return ""


def _usage(error: BaseException) -> Problem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "tunewright"
    what = error.format_message()  # type: ignore[attr-defined]
    return Problem(what.strip() or "nothing to do", remedy=f"{path} --help")


def _keep(error: BaseException) -> Path:
    """Write the traceback into a file of its own, readable by this user alone."""
    handle, name = tempfile.mkstemp(prefix="tunewright-error-", suffix=".txt")
    text = "".join(traceback.format_exception(error))
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"command: {' '.join(sys.argv)}\npython: {sys.version}\n\n{text}")
    return Path(name)
