"""Where output goes: answers to standard output, progress and problems to standard error."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from tunewright.present import envelope

_PIPED_WIDTH = 200  # nobody resizes a file: leave tables whole for grep


def screen() -> Console:
    """Standard output. Colours only in a terminal, and never with NO_COLOR."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, width=_PIPED_WIDTH if piped else None)


def sidelines() -> Console:
    """Standard error: progress, notes and problems."""
    return Console(stderr=True, highlight=False)


def say(text: str = "", style: str = "") -> None:
    """One line of an answer; wrapped by the terminal, never cut."""
    screen().print(Text(text, style=style), soft_wrap=True)


def show_json(data: Any) -> None:
    """An answer for programs: the envelope of the command that is answering."""
    envelope.show(envelope.current(), data)
