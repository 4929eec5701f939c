"""A running round as plain lines: for log files, pipes, and scripts that nobody looks at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from tunewright.messages import label, worded, words
from tunewright.progress.shown import Shown, clock, step_line, who
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


class Lines:
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
        self._shown = Shown(best)
        self._write = write
        self._quiet = quiet
        self._now = now
        self._due_at = 0.0
        self._stood = False  # whether a line has shown where the round stands

    @property
    def summary(self) -> Summary | None:
        """How the supervisor left the round; None until it has."""
        return self._shown.summary

    def step(self, step: CampaignStep) -> None:
        """Print it."""
        self._say(step_line(step))

    def began(self, round: RoundStarted) -> None:
        """Print how much there is to do."""
        self._shown.start(round)
        self._due_at, self._stood = self._now() + FIRST_S, False
        if self._quiet:
            return
        before = worded("progress.ended_before", done=round.done) if round.done else ""
        facts = {"round": words.printable(round.name), "objective": round.objective}
        self._say(worded("progress.began", trials=round.total, before=before, **facts))
        if self._shown.tally.best is not None:
            self._say(self._shown.tally.best_line())

    def claimed(self, started: Started) -> None:
        """Print which configuration begins."""
        self._shown.tally = self._shown.tally.after_start(started, self._now())
        if self._quiet:
            return
        code = "progress.begins_again" if started.attempt > 1 else "progress.begins"
        settings = self._shown.tally.shown(started.configuration)
        facts = {"who": who(started), "attempt": started.attempt, "settings": settings}
        self._say(worded(code, **facts))

    def reached(self, reached: Reached) -> None:
        """Print where the round stands, if that is due."""
        self._shown.tally = self._shown.tally.after_reach(reached, self._now())
        if self._now() >= self._due_at:
            self._stand()

    def ended(self, concluded: Concluded) -> None:
        """Print what became of it."""
        self._shown.tally = self._shown.tally.after_end(concluded)
        if self._quiet:
            if self._now() >= self._due_at:
                self._stand()
        else:
            self._say(self._end_line(concluded))
        for warning in self._shown.warnings(concluded):
            self._say(warning)

    def best(self, concluded: Concluded) -> None:
        """Print that it is the best so far."""
        self._shown.tally = replace(self._shown.tally, best=concluded)
        if not self._quiet:
            self._say(self._shown.tally.best_line())

    def message(self, text: str) -> None:
        """Print it."""
        self._say(words.printable(text))

    def closed(self, summary: Summary) -> None:
        """Keep how it was left; print it only after other lines on its progress."""
        self._shown.summary = summary
        if self._quiet and self._stood:
            self._stand()

    def _stand(self) -> None:
        tally = self._shown.tally
        self._due_at, self._stood = self._now() + EVERY_S, True
        best = f"  {tally.best_line()}" if self._quiet else ""
        line = f"{words.printable(tally.round)}  {tally.head(self._now())}{best}"
        self._say(line.rstrip())

    def _end_line(self, concluded: Concluded) -> str:
        tally = self._shown.tally
        if concluded.value is not None:
            what = f"{words.printable(tally.metric)} {words.number(concluded.value)}"
        else:
            what = words.printable(str(concluded.reason or ""))
        pending = concluded.status == "pending"
        status = worded("progress.pending") if pending else label(concluded.status)
        took = words.duration(concluded.seconds)
        return f"{who(concluded)} {status}  {what}  {took}  [{tally.head(self._now())}]"

    def _say(self, text: str) -> None:
        # one event is one line, however long: a log is read by grep
        self._write(f"{clock()}  {text}")
