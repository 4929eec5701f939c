"""A table on a screen: a heading, no frame, and cells that are harmless to a terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from tunewright.messages import words


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A plain table; the columns named in `right` hold numbers and stand at the right."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return made


def cell(text: Any, style: str = "") -> Text:
    """A table cell: text as it is, harmless to the terminal and never read as markup."""
    return Text(words.printable(str(text)), style=style)
