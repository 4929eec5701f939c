"""How a command ends: an answer as an envelope or a page, or an error with what helps; exit code.

Never a bare traceback: one that nobody foresaw is kept in a file whose path is printed. The exit
codes of every command are decided here too.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from tunewright.errors import (
    DesignError,
    MissingExtra,
    Misuse as Misuse,
    NotFound,
    PipelineError,
    TunewrightError,
    WorkloadError,
)
from tunewright.messages import padded, worded, words
from tunewright.present.terminal.screen import show_json
from tunewright.refusals import refusal_of
from tunewright.store.address import mask_words

FINE = 0  # infeasible and failed trials included
WARNED = 1  # the checklist warns, or `again` gave another value
_WRONG_USE = 2  # a misspelt option, round file, name or workload
UNFINISHED = 3  # the round could not be finished, or every trial failed
INTERRUPTED = 130  # Ctrl-C, SIGTERM, or `tunewright stop`
WRONG = (DesignError, WorkloadError, NotFound, MissingExtra, Misuse, PipelineError)


@dataclass(frozen=True)
class Problem:
    """An error as text for a terminal."""

    what: str  # one sentence, or one line for each of several problems
    where: str = ""  # file and line
    cause: str = ""  # the likely one
    remedy: str = ""  # the next command, or the line to write
    exit_code: int = _WRONG_USE


def explain(error: BaseException) -> Problem:
    """The problem behind an exception.

    >>> from tunewright.errors import StoreError
    >>> explain(StoreError("error.text", text="the disk is full")).remedy
    'tunewright doctor  (check the machine and the store)'
    """
    if hasattr(error, "format_message"):  # raised by typer for a wrong option or argument
        return _usage(error)
    if isinstance(error, TunewrightError):
        refused = refusal_of(problem.code for problem in error.problems)
        code = _WRONG_USE if isinstance(error, WRONG) else UNFINISHED
        code = code if refused is None else refused.exit_code
        what = error.text_for("shell")
        if not isinstance(error, Misuse):
            return Problem(what, remedy=_remedy(error), exit_code=code)
        cause = "" if error.cause is None else error.cause.text_for("shell")
        return Problem(what, error.where, cause, _remedy(error), code)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return Problem(
        f"{type(error).__name__}: {error}",
        where="".join(f"{frame.filename}:{frame.lineno}" for frame in last),
        cause=worded("unforeseen"),
        remedy="tunewright doctor",
        exit_code=UNFINISHED,
    )


def tell(error: BaseException, console: Console) -> int:
    """Print the problem behind an exception, and return the exit code."""
    problem = explain(error)
    first, *more = [line for line in problem.what.splitlines() if line.strip()] or [
        worded("no_reason")
    ]
    lines = [Text.assemble((worded("error"), "bold red"), words.printable(first))]
    lines += [Text(f"       {words.printable(line.strip())}") for line in more]
    kept = "" if _foreseen(error) else str(_keep(error))
    for label, text in (
        ("where", problem.where),
        ("cause", problem.cause),
        ("trace", kept),
        ("try", problem.remedy),
    ):
        if text:
            lines.append(Text.assemble(("  " + padded(label, 8), "dim"), words.printable(text)))
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
    return problem.exit_code


def _foreseen(error: BaseException) -> bool:
    return isinstance(error, TunewrightError) or hasattr(error, "format_message")


def _remedy(error: TunewrightError) -> str:
    """What helps, as a shell takes it, and what that does."""
    remedy = error.remedy
    if remedy is None:
        return ""
    advice = remedy.shell_text
    return f"{remedy.command}  ({advice})" if remedy.command else advice


def _usage(error: BaseException) -> Problem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "tunewright"
    what = error.format_message()  # type: ignore[attr-defined]
    return Problem(
        _of_click(error, what.strip()) or worded("nothing_to_do"), remedy=f"{path} --help"
    )


def _of_click(error: BaseException, text: str) -> str:
    """A wrong use of the command line in the reader's language; typer itself has English only."""
    kinds = {"NoSuchOption": "option", "MissingParameter": "missing", "BadParameter": "value"}
    kind = "command" if "No such command" in text else kinds.get(type(error).__name__, "other")
    quoted = re.search(r"'([^']*)'", text)
    name = getattr(error, "option_name", None) or (quoted[1] if quoted else "")
    return worded(f"usage.{kind}", said=text, name=name)


def _keep(error: BaseException) -> Path:
    """Write the traceback into a separate file, readable by this user alone."""
    handle, name = tempfile.mkstemp(prefix="tunewright-error-", suffix=".txt")
    text = "".join(traceback.format_exception(error))
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"command: {shlex.join(mask_words(sys.argv))}\npython: {sys.version}\n\n{text}")
    return Path(name)


def answer(json: bool, data: Any, page: Callable[[], None], code: int = FINE) -> None:
    """Print the data (or what it returns when called) as JSON, or the page; leave with the code."""
    if json:
        show_json(data() if callable(data) else data)
    else:
        page()
    if code != FINE:
        raise typer.Exit(code)
