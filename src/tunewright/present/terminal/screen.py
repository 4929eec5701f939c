"""Where output goes: answers to standard output, progress and problems to standard error."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tunewright.messages import Message, label, padded, words
from tunewright.present import envelope

if TYPE_CHECKING:  # every command imports this file, `--help` too
    from tunewright.store.results import Results

_PIPED_WIDTH = 200  # nobody resizes a file: leave tables whole for grep
LABEL = 12  # width of the left column of a page


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


def print_pair(console: Console, name: str, text: str, style: str = "") -> None:
    """A line of a page: its name in the left column, then the text."""
    line = Text.assemble((padded(name, LABEL), "dim"), (text, style))
    console.print(line, soft_wrap=True)


def show_json(data: Any) -> None:
    """An answer for programs: the envelope of the command that is answering."""
    envelope.show(envelope.current(), data)


# ---- A table on a screen: a heading, no frame, and cells that are harmless to a terminal


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A plain table; the columns named in `right` hold numbers and stand at the right."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        grid.add_column(label(name), justify="right" if name in right else "left", overflow="fold")
    return grid


def cell(text: Any, style: str = "") -> Text:
    """A table cell: text as it is, harmless to the terminal and never read as markup."""
    return Text(words.printable(str(text)), style=style)


# ---- how many trials of earlier rounds count next to a round's own


def earlier_line(results: Results) -> str:
    """How many earlier trials count too, and of which rounds; empty without any."""
    counted = Counter(trial.origin[0] for trial in results.rows if trial.origin)
    return Message("round.earlier_trials", {"rounds": dict(counted)}).text if counted else ""
