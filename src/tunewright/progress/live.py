"""A running round in a terminal: two lines that redraw themselves, warnings above them."""

from __future__ import annotations

import time
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tunewright.messages import worded, words
from tunewright.progress.shown import Shown, clock, step_line
from tunewright.progress.tally import Tally
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Started,
    Summary,
)

_BAR = 24  # characters
_REFRESH_PER_SECOND = 4


class LiveRegion:
    """A watcher that redraws two lines in a terminal and prints warnings above them."""

    def __init__(self, console: Console, best: Concluded | None = None) -> None:
        """`console` must be a terminal; `best` is the best trial known before."""
        self._shown = Shown(best)
        self._console = console
        self._live: Live | None = None

    @property
    def summary(self) -> Summary | None:
        """How the supervisor left the round; None until it has."""
        return self._shown.summary

    def step(self, step: CampaignStep) -> None:
        """Print it."""
        self._say(Text(step_line(step), style="bold cyan"))

    def began(self, round: RoundStarted) -> None:
        """Open the region."""
        self._shown.start(round)
        if round.continued and round.done:
            ended = worded("progress.continues", done=round.done, total=round.total)
            self._console.print(Text(ended))
        self._close()
        self._live = Live(
            get_renderable=self._region,
            console=self._console,
            refresh_per_second=_REFRESH_PER_SECOND,
        )
        self._live.start()

    def claimed(self, started: Started) -> None:
        """Count it as running."""
        self._shown.tally = self._shown.tally.after_start(started, time.monotonic())

    def reached(self, reached: Reached) -> None:
        """Show its step with the next redraw."""
        self._shown.tally = self._shown.tally.after_reach(reached, time.monotonic())

    def ended(self, concluded: Concluded) -> None:
        """Count it, and print what is worth a warning."""
        self._shown.tally = self._shown.tally.after_end(concluded)
        for warning in self._shown.warnings(concluded):
            self._say(Text(f"{clock()}  {warning}", style="yellow"))

    def best(self, concluded: Concluded) -> None:
        """Show it as the best so far."""
        self._shown.tally = replace(self._shown.tally, best=concluded)

    def message(self, text: str) -> None:
        """Print it above the region."""
        self._say(Text(f"{clock()}  {words.printable(text)}"))

    def closed(self, summary: Summary) -> None:
        """Leave the last state of the region standing."""
        self._shown.summary = summary
        self._close()

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: Text) -> None:
        self._console.print(text)

    def _region(self) -> RenderableType:
        return region(self._shown.tally, time.monotonic())


def region(tally: Tally, now: float) -> RenderableType:
    """The live region: the bar with the counts, and below it the best so far."""
    share = tally.done / tally.total if tally.total else 1.0
    full = min(_BAR, round(_BAR * share))
    head = Text.assemble(
        (f"{words.printable(tally.round)}  ", "bold"),
        ("█" * full, "cyan"),
        ("░" * (_BAR - full), "dim"),
        f" {tally.head(now)}",
        no_wrap=True,
        overflow="ellipsis",
    )
    best = tally.best_line()
    if not best:
        return head
    return Group(head, Text(best, style="green", no_wrap=True, overflow="ellipsis"))
