"""What a running round shows: one live region in a terminal, one line per event elsewhere."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tunewright.execution.watcher import Concluded, Started, Summary
from tunewright.messages import words
from tunewright.present.terminal.tally import STREAK, Tally
from tunewright.store.reason import encode, kind

if TYPE_CHECKING:
    from tunewright.store.store import RoundRecord

BAR = 24  # characters
REFRESH_PER_SECOND = 4
WARNED_REASONS = 3  # failures told at once; the rest are counted, and `show` lists them


class Shown:
    """A watcher with what both forms share: the tally, the warnings, how the round was left."""

    def __init__(self, best: Concluded | None) -> None:
        """`best` is the best trial of earlier calls; the rest is known at `began`."""
        self.tally = Tally("", "", 0, 0, best=best)
        self.summary: Summary | None = None  # how the supervisor left the round
        self._reasons: set[str] = set()  # kinds of failures that were told, encoded

    def start(self, record: RoundRecord, total: int, done: int) -> None:
        """Take over what the record says of the round."""
        fixed = {f.name for study in record.round.studies for f in study.fixed}
        searched = {h.name for study in record.round.studies for h in study.space}
        # while repeats run, the record counts the round's trials, which are others
        counts = record.counts if total == sum(record.counts.values()) else {}
        self.tally = Tally(
            record.name,
            record.objective.metric,
            total,
            done,
            infeasible=counts.get("infeasible", 0),
            failed=counts.get("failed", 0),
            pruned=counts.get("pruned", 0),
            best=self.tally.best,
            fixed=tuple(sorted(fixed - searched)),
        )

    def warnings(self, concluded: Concluded) -> list[str]:
        """What is worth a highlighted line: a new kind of failure, a row of infeasible trials."""
        found = []
        name = words.shell_word(self.tally.round)
        reason = words.printable(str(concluded.reason or "no reason given"))
        own = encode(kind(concluded.reason))
        if concluded.status == "failed" and own not in self._reasons:
            self._reasons.add(own)
            if len(self._reasons) <= WARNED_REASONS:
                number = "ROUND N" if concluded.number is None else f"{name} {concluded.number}"
                found.append(f"! {_who(concluded)} failed: {reason}: `tunewright trial {number}`")
        if concluded.status == "infeasible" and self.tally.streak == STREAK:
            found.append(
                f"! {STREAK} trials in a row were infeasible, the last: {reason}: "
                f"`tunewright show {name}`"
            )
        return found


class LiveRegion:
    """A watcher that redraws two lines in a terminal and prints warnings above them."""

    def __init__(self, console: Console, best: Concluded | None = None) -> None:
        """`console` must be a terminal."""
        self._shown = Shown(best)
        self._console = console
        self._live: Live | None = None

    @property
    def summary(self) -> Summary | None:
        """How the supervisor left the round; None until it has."""
        return self._shown.summary

    def began(self, record: RoundRecord, total: int, done: int) -> None:
        """Open the region."""
        self._shown.start(record, total, done)
        if record.continued and done:
            self._console.print(Text(f"continues: {done} of {words.count(total, 'trial')} ended"))
        self._live = Live(
            get_renderable=self._region,
            console=self._console,
            refresh_per_second=REFRESH_PER_SECOND,
        )
        self._live.start()

    def claimed(self, started: Started) -> None:
        """Count it as running."""
        self._shown.tally = self._shown.tally.after_start(started, time.monotonic())

    def ended(self, concluded: Concluded) -> None:
        """Count it, and print what is worth a warning."""
        self._shown.tally = self._shown.tally.after_end(concluded)
        for warning in self._shown.warnings(concluded):
            self._say(Text(f"{_clock()}  {warning}", style="yellow"))

    def best(self, concluded: Concluded) -> None:
        """Show it as the best so far."""
        self._shown.tally = replace(self._shown.tally, best=concluded)

    def message(self, text: str) -> None:
        """Print it above the region."""
        self._say(Text(f"{_clock()}  {words.printable(text)}"))

    def closed(self, summary: Summary) -> None:
        """Leave the last state of the region standing."""
        self._shown.summary = summary
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: Text) -> None:
        self._console.print(text)

    def _region(self) -> RenderableType:
        return region(self._shown.tally, time.monotonic())


class Lines:
    """A watcher that prints one line per event: for log files and pipes."""

    def __init__(self, console: Console, best: Concluded | None = None) -> None:
        """Lines go to `console`, each with the time of day."""
        self._shown = Shown(best)
        self._console = console

    @property
    def summary(self) -> Summary | None:
        """How the supervisor left the round; None until it has."""
        return self._shown.summary

    def began(self, record: RoundRecord, total: int, done: int) -> None:
        """Say how much there is to do."""
        self._shown.start(record, total, done)
        before = f", {done} ended before" if done else ""
        trials = words.count(total, "trial")
        self._say(f"{words.printable(record.name)}: {trials}{before}, {record.objective}")
        if self._shown.tally.best is not None:
            self._say(self._shown.tally.best_line())

    def claimed(self, started: Started) -> None:
        """Say which configuration begins."""
        self._shown.tally = self._shown.tally.after_start(started, time.monotonic())
        again = f" (attempt {started.attempt})" if started.attempt > 1 else ""
        self._say(
            f"{_who(started)} begins{again}  {self._shown.tally.shown(started.configuration)}"
        )

    def ended(self, concluded: Concluded) -> None:
        """Say what became of it."""
        self._shown.tally = self._shown.tally.after_end(concluded)
        if concluded.value is not None:
            metric = words.printable(self._shown.tally.metric)
            what = f"{metric} {words.number(concluded.value)}"
        else:
            what = words.printable(str(concluded.reason or ""))
        status = "goes back to pending" if concluded.status == "pending" else concluded.status
        took = words.duration(concluded.seconds)
        head = self._shown.tally.head(time.monotonic())
        self._say(f"{_who(concluded)} {status}  {what}  {took}  [{head}]")
        for warning in self._shown.warnings(concluded):
            self._say(warning)

    def best(self, concluded: Concluded) -> None:
        """Say that it is the best so far."""
        self._shown.tally = replace(self._shown.tally, best=concluded)
        self._say(self._shown.tally.best_line())

    def message(self, text: str) -> None:
        """Say it."""
        self._say(words.printable(text))

    def closed(self, summary: Summary) -> None:
        """Keep how it was left; the command says the rest."""
        self._shown.summary = summary

    def _say(self, text: str) -> None:
        # one event is one line, however long: a log is read by grep
        self._console.print(Text(f"{_clock()}  {text}"), soft_wrap=True, highlight=False)


def watcher(console: Console, best: Concluded | None = None) -> LiveRegion | Lines:
    """The form that fits where the output goes; `best` is the best trial known before."""
    form: type[LiveRegion] | type[Lines]
    form = LiveRegion if console.is_terminal and not console.is_dumb_terminal else Lines
    return form(console, best)


def region(tally: Tally, now: float) -> RenderableType:
    """The live region: the bar with the counts, and below it the best so far."""
    share = tally.done / tally.total if tally.total else 1.0
    full = min(BAR, round(BAR * share))
    head = Text.assemble(
        (f"{words.printable(tally.round)}  ", "bold"),
        ("█" * full, "cyan"),
        ("░" * (BAR - full), "dim"),
        f" {tally.head(now)}",
        no_wrap=True,
        overflow="ellipsis",
    )
    best = tally.best_line()
    if not best:
        return head
    return Group(head, Text(best, style="green", no_wrap=True, overflow="ellipsis"))


def _who(told: Started | Concluded) -> str:
    return "a repeat" if told.number is None else f"trial {told.number}"


def _clock() -> str:
    return time.strftime("%H:%M:%S")
