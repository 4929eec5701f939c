"""The envelope of `--json`: one object per command, on standard output, errors included.

    {"schema_version": 1, "command": "check", "ok": true, "data": {...}}
    {"schema_version": 1, "command": "check", "ok": false, "error": {...}, "exit_code": 2}

It holds facts and codes, never translated; `message` alone is text for readers. While a command
answers by an envelope, everything else that is printed goes to standard error.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import IO, Any

from tunewright.actions import Action
from tunewright.errors import TunewrightError
from tunewright.present.plain import as_json, plain

SCHEMA_VERSION = 1
_answers: list[tuple[str, IO[str]]] = []  # the command that answers, and where its answer goes


@contextlib.contextmanager
def answering(command: str) -> Iterator[None]:
    """Keep standard output for the envelope of a command; whatever else is printed goes aside."""
    _answers.append((command, sys.stdout))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()


def success(command: str, data: Any) -> dict[str, Any]:
    """The envelope of an answer."""
    return {
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "ok": True,
        "data": plain(data),
    }


def failure(command: str, error: BaseException, exit_code: int) -> dict[str, Any]:
    """The envelope of an error: its code, its facts, and the command that helps.

    >>> failure("ls", LookupError("no store"), 2)["error"]["code"]
    'lookup_error'
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "ok": False,
        "error": {
            "code": code_of(error),
            "message": message_of(error),
            "facts": plain(getattr(error, "facts", {})),
            **_several(error),
            "remedy": remedy_of(error),
        },
        "exit_code": exit_code,
    }


def show(command: str, data: Any) -> None:
    """Print the envelope of an answer."""
    _print(success(command, data))


def _several(error: BaseException) -> dict[str, Any]:
    """Every problem, where the error has more than one."""
    if not isinstance(error, TunewrightError) or len(error.problems) == 1:
        return {}
    return {"problems": plain(error.to_data()["problems"])}


def show_error(command: str, error: BaseException, exit_code: int = 2) -> None:
    """Print the envelope of an error."""
    _print(failure(command, error, exit_code))


def current() -> str:
    """The command that is answering; empty outside of `answering`."""
    return _answers[-1][0] if _answers else ""


def code_of(error: BaseException) -> str:
    """The code of an error; its class in small letters where it carries none.

    >>> code_of(LookupError()), code_of(KeyboardInterrupt())
    ('lookup_error', 'keyboard_interrupt')
    """
    code = getattr(error, "code", None)
    if isinstance(code, str) and code:
        return code
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()


def message_of(error: BaseException) -> str:
    """What happened, in a sentence; the words of typer where it refuses an option."""
    described = getattr(error, "format_message", None)
    return str(described() if described is not None else error)


def remedy_of(error: BaseException) -> dict[str, Any] | None:
    """The command that helps, as words of a command line; None where nothing is known to help."""
    remedy = getattr(error, "remedy", None)
    if isinstance(remedy, Action):
        return remedy.to_data()
    context = getattr(error, "ctx", None)  # of typer, where an option or argument is wrong
    return None if context is None else {"argv": [*context.command_path.split(), "--help"]}


def _print(envelope: dict[str, Any]) -> None:
    stream = _answers[-1][1] if _answers else sys.stdout
    print(as_json(envelope), file=stream, flush=True)
