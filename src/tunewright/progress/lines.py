"""A running round as plain lines: for log files, pipes, and scripts that nobody looks at."""

from __future__ import annotations

import time
from collections.abc import Callable

from tunewright.messages import label, worded, words
from tunewright.progress.follower import Follower, clock, step_line
from tunewright.progress.tally import who
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Started,
    Summary,
)

FIRST_S = 10.0  # a round that is over sooner needs no separate line
EVERY_S = 60.0  # between lines about where it stands


class Lines(Follower):
    """A watcher that prints a line per event, and one a minute about where the round stands.

    With `quiet` there is no line per event: only what is worth a warning, messages, and where the
    round stands after ten seconds, every minute, and at the end.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        best: Concluded | None = None,
        *,
        quiet: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`write` receives each line without its end; `best` is the best trial known before."""
        super().__init__(best, now)
        self._write = write
        self._quiet = quiet
        self._due_at = 0.0
        self._stood = False  # whether a line has shown where the round stands

    def step(self, step: CampaignStep) -> None:
        """Print it."""
        self._say(step_line(step))

    def began(self, round: RoundStarted) -> None:
        """Print how much there is to do."""
        super().began(round)
        self._due_at, self._stood = self._now() + FIRST_S, False
        if self._quiet:
            return
        before = worded("progress.ended_before", done=round.done) if round.done else ""
        facts = {"round": words.printable(round.name), "objective": round.objective}
        self._say(worded("progress.began", trials=round.total, before=before, **facts))
        if self.tally.best is not None:
            self._say(self.tally.best_line())

    def claimed(self, started: Started) -> None:
        """Print which configuration begins."""
        super().claimed(started)
        if self._quiet:
            return
        code = "progress.begins_again" if started.attempt > 1 else "progress.begins"
        settings = self.tally.settings(started.configuration)
        facts = {"who": who(started.number), "attempt": started.attempt, "settings": settings}
        self._say(worded(code, **facts))

    def reached(self, reached: Reached) -> None:
        """Print where the round stands, if that is due."""
        super().reached(reached)
        if self._now() >= self._due_at:
            self._stand()

    def ended(self, concluded: Concluded) -> None:
        """Print what became of it."""
        super().ended(concluded)
        if self._quiet:
            if self._now() >= self._due_at:
                self._stand()
        else:
            self._say(self._end_line(concluded))
        for warning in self.warnings(concluded):
            self._say(warning)

    def best(self, concluded: Concluded) -> None:
        """Print that it is the best so far."""
        super().best(concluded)
        if not self._quiet:
            self._say(self.tally.best_line())

    def message(self, text: str) -> None:
        """Print it."""
        self._say(words.printable(text))

    def closed(self, summary: Summary) -> None:
        """Keep how it was left; print it only after other lines on its progress."""
        super().closed(summary)
        if self._quiet and self._stood:
            self._stand()

    def _stand(self) -> None:
        tally = self.tally
        self._due_at, self._stood = self._now() + EVERY_S, True
        best = f"  {tally.best_line()}" if self._quiet else ""
        line = f"{words.printable(tally.round)}  {tally.head(self._now())}{best}"
        self._say(line.rstrip())

    def _end_line(self, concluded: Concluded) -> str:
        tally = self.tally
        if concluded.value is not None:
            what = f"{words.printable(tally.metric)} {words.number(concluded.value)}"
        else:
            what = words.printable(str(concluded.reason or ""))
        pending = concluded.status == "pending"
        status = worded("progress.pending") if pending else label(concluded.status)
        took = words.duration(concluded.seconds)
        return f"{who(concluded.number)} {status}  {what}  {took}  [{tally.head(self._now())}]"

    def _say(self, text: str) -> None:
        # one event is one line, however long: a log is read by grep
        self._write(f"{clock()}  {text}")
