"""A running round in a notebook: one block that updates in place, its last state stays.

The block is small HTML, with plain text beside it for front ends that show no HTML.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable
from typing import Any

from tunewright.messages import words
from tunewright.progress.follower import Follower, clock, step_line
from tunewright.progress.tally import Tally
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Started,
    Summary,
)

AGAIN_S = 0.5  # between two updates: each is a message to the browser
_MOST_LINES = 20  # of warnings and messages below the bar
Bundle = dict[str, str]  # MIME type -> text


class Notebook(Follower):
    """A watcher that shows every round as one block of a cell's output."""

    def __init__(
        self,
        show: Callable[[Bundle], Callable[[Bundle], None]] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`show` displays a block and returns what updates it; by default IPython's display."""
        super().__init__(now=now)
        self._show = show or _display
        self._update: Callable[[Bundle], None] | None = None
        self._lines: list[str] = []
        self._drawn_at = float("-inf")

    def step(self, step: CampaignStep) -> None:
        """Show it as a separate block."""
        line = step_line(step)
        self._show({"text/plain": line, "text/html": f"<b>{html.escape(line)}</b>"})

    def began(self, round: RoundStarted) -> None:
        """Open a block."""
        super().began(round)
        self._lines = []
        self._update = None
        self._draw(at_once=True)

    def claimed(self, started: Started) -> None:
        """Count it as running."""
        super().claimed(started)
        self._draw()

    def reached(self, reached: Reached) -> None:
        """Show its step."""
        super().reached(reached)
        self._draw()

    def ended(self, concluded: Concluded) -> None:
        """Count it, and show what is worth a warning."""
        super().ended(concluded)
        self._lines += [f"{clock()}  {line}" for line in self.warnings(concluded)]
        self._draw()

    def best(self, concluded: Concluded) -> None:
        """Show it as the best so far."""
        super().best(concluded)
        self._draw()

    def message(self, text: str) -> None:
        """Show it below the bar."""
        line = f"{clock()}  {words.printable(text)}"
        if self._update is None:  # before a round, or after it: a separate block
            self._show({"text/plain": line, "text/html": html.escape(line)})
            return
        self._lines.append(line)
        self._draw(at_once=True)

    def closed(self, summary: Summary) -> None:
        """Leave the last state standing."""
        super().closed(summary)
        self._draw(at_once=True)
        self._update = None

    def _draw(self, at_once: bool = False) -> None:
        if not at_once and self._now() - self._drawn_at < AGAIN_S:
            return
        self._drawn_at = self._now()
        drawn = block(self.tally, self._lines[-_MOST_LINES:], self._now())
        if self._update is None:
            self._update = self._show(drawn)
        else:
            self._update(drawn)


def block(tally: Tally, lines: list[str], now: float) -> Bundle:
    """A round as HTML and as plain text: the bar with the counts, the best so far, warnings."""
    texts = [f"{words.printable(tally.round)}  {tally.head(now)}"]
    texts += [tally.best_line()] if tally.best is not None else []
    texts += lines
    head, *rest = (html.escape(text) for text in texts)
    bar = f'<progress value="{tally.done}" max="{max(tally.total, 1)}"></progress>'
    below = "".join(f"<br>{line}" for line in rest)
    style = "font-family:monospace;white-space:pre-wrap"
    return {
        "text/plain": "\n".join(texts),
        "text/html": f'<div style="{style}">{bar} {head}{below}</div>',
    }


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; IPython is not imported for it."""
    interactive: Any = sys.modules.get("IPython")
    if interactive is None:
        return False
    shell = interactive.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def _display(bundle: Bundle) -> Callable[[Bundle], None]:
    """Show a block as output of the current cell; what is returned updates it."""
    from IPython import display

    show: Any = display.display
    handle = show(bundle, raw=True, display_id=True)

    def update(changed: Bundle) -> None:
        handle.update(changed, raw=True)

    return update
