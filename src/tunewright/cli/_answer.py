"""How a command ends: its answer as an envelope or as a page, then its exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from tunewright.cli._errors import FINE
from tunewright.present.terminal.screen import show_json


def answer(json: bool, data: Any, page: Callable[[], None], code: int = FINE) -> None:
    """Print the data as JSON, or the page for readers; leave with the exit code."""
    if json:
        show_json(data)
    else:
        page()
    if code != FINE:
        raise typer.Exit(code)
