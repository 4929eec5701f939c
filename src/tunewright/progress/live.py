"""A running round in a terminal: two lines that redraw themselves, warnings above them."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tunewright.messages import worded, words
from tunewright.progress.follower import Follower, clock, step_line
from tunewright.progress.tally import Tally
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    RoundStarted,
    Summary,
)

_BAR = 24  # characters
_REFRESH_PER_SECOND = 4


class LiveRegion(Follower):
    """A watcher that redraws two lines in a terminal and prints warnings above them."""

    def __init__(self, console: Console, best: Concluded | None = None) -> None:
        """`console` must be a terminal; `best` is the best trial known before."""
        super().__init__(best)
        self._console = console
        self._live: Live | None = None

    def step(self, step: CampaignStep) -> None:
        """Print it."""
        self._say(Text(step_line(step), style="bold cyan"))

    def began(self, round: RoundStarted) -> None:
        """Open the region."""
        super().began(round)
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

    def ended(self, concluded: Concluded) -> None:
        """Count it, and print what is worth a warning."""
        super().ended(concluded)
        for warning in self.warnings(concluded):
            self._say(Text(f"{clock()}  {warning}", style="yellow"))

    def message(self, text: str) -> None:
        """Print it above the region."""
        self._say(Text(f"{clock()}  {words.printable(text)}"))

    def closed(self, summary: Summary) -> None:
        """Leave the last state of the region standing."""
        super().closed(summary)
        self._close()

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: Text) -> None:
        self._console.print(text)

    def _region(self) -> RenderableType:
        return region(self.tally, self._now())


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
