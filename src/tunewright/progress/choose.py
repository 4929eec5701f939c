"""Which watcher fits where this process runs: `progress=` of everything that trains."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tunewright.errors import DesignError
from tunewright.progress.watcher import Concluded, Silent, Watcher

if TYPE_CHECKING:
    from tunewright.progress.lines import Lines
    from tunewright.progress.live import LiveRegion

VARIABLE = "TUNEWRIGHT_PROGRESS"
_AUTO, OFF, _PLAIN = "auto", "off", "plain"
UNDER_TEST = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION")  # pytest's own variables
Wanted = Watcher | Literal["auto", "off"]


def watcher_for(progress: Wanted, *, debuggable: bool = False) -> Watcher:
    """The watcher that `progress` asks for.

    "auto" is a live region in a terminal, a block in a notebook, and elsewhere a line on standard
    error after ten seconds and every minute; nothing under pytest. TUNEWRIGHT_PROGRESS=off switches
    it off, =plain asks for lines. `debuggable` asks for lines too: a region that redraws itself
    would disturb a debugger in this very process.
    """
    if not isinstance(progress, str):
        if not isinstance(progress, Watcher):
            raise DesignError("progress.bad", progress=progress)
        return progress
    if progress not in (_AUTO, OFF):
        raise DesignError("progress.bad", progress=progress)
    wished = os.environ.get(VARIABLE, "") or _AUTO
    if wished not in (_AUTO, OFF, _PLAIN):
        raise DesignError("progress.bad_variable", variable=VARIABLE, value=wished)
    tested = wished == _AUTO and any(name in os.environ for name in UNDER_TEST)
    if OFF in (progress, wished) or tested:
        return Silent()
    return fitting(plain=wished == _PLAIN, lines=debuggable)


def lines_for(progress: Wanted) -> Callable[[str], None]:
    """Where the lines of something go that trains no trials; nowhere when progress is off."""
    watch = watcher_for(progress)
    return (lambda line: None) if type(watch) is Silent else watch.message


def fitting(*, plain: bool = False, lines: bool = False) -> Watcher:
    """What fits this process: a block of a notebook, a live region, or quiet lines."""
    # rich is loaded only where something is drawn: a quiet script should not wait for it
    from tunewright.progress.lines import Lines
    from tunewright.progress.notebook import Notebook, in_notebook

    if in_notebook() and not plain:
        return Notebook()
    if plain or lines or not sys.stderr.isatty():
        return Lines(_to_standard_error, quiet=True)
    return on_screen()


def on_screen(best: Concluded | None = None) -> LiveRegion | Lines:
    """For commands: a live region if standard error is a terminal, else a line per event."""
    from rich.console import Console

    from tunewright.progress.lines import Lines
    from tunewright.progress.live import LiveRegion

    console = Console(stderr=True, highlight=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveRegion(console, best)
    return Lines(_to_standard_error, best)


def _to_standard_error(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)
