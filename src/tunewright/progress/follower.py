"""What every watcher that shows something shares: the tally, the warnings, how a round ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from tunewright.messages import label, worded, words
from tunewright.progress.tally import STREAK, Tally, who
from tunewright.progress.watcher import (
    CampaignStep,
    Concluded,
    Reached,
    RoundStarted,
    Silent,
    Started,
    Summary,
)
from tunewright.store.outcome import encode, kind

_WARNED_REASONS = 3  # failures shown at once; the rest are counted, and `show` lists them


class Follower(Silent):
    """Follows one round: its tally, how it ended. What it looks like is the subclass's."""

    def __init__(
        self, best: Concluded | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`best` is the best trial of earlier calls; the rest is known when a round begins."""
        self.tally = Tally("", "", 0, 0, best=best)
        self.summary: Summary | None = None  # how the supervisor left the round; None until it has
        self._now = now
        self._reasons: set[str] = set()  # kinds of failures that were shown, encoded
        self._trains = True

    def began(self, round: RoundStarted) -> None:
        """Begin a round; the best trial of another one is forgotten."""
        best = self.tally.best if self.tally.round in ("", round.name) else None
        self.tally = Tally.of(round, best)
        self.summary = None
        self._reasons = set()
        self._trains = round.what != "evaluation"  # whose failures are part of its answer

    def claimed(self, started: Started) -> None:
        """Count it as running."""
        self.tally = self.tally.after_start(started, self._now())

    def reached(self, reached: Reached) -> None:
        """Count its steps."""
        self.tally = self.tally.after_reach(reached, self._now())

    def ended(self, concluded: Concluded) -> None:
        """Count its end."""
        self.tally = self.tally.after_end(concluded)

    def best(self, concluded: Concluded) -> None:
        """Keep it as the best so far."""
        self.tally = replace(self.tally, best=concluded)

    def closed(self, summary: Summary) -> None:
        """Keep how the round was left."""
        self.summary = summary

    def warnings(self, concluded: Concluded) -> list[str]:
        """What is worth a highlighted line: a new kind of failure, a row of infeasible trials."""
        lines: list[str] = []
        if not self._trains:
            return lines
        name = words.shell_word(self.tally.round)
        reason = words.printable(str(concluded.reason or worded("no_reason_given")))
        kind_of_reason = encode(kind(concluded.reason))
        if concluded.status == "failed" and kind_of_reason not in self._reasons:
            self._reasons.add(kind_of_reason)
            if len(self._reasons) <= _WARNED_REASONS:
                number = "ROUND N" if concluded.number is None else f"{name} {concluded.number}"
                command = f"tunewright trial {number}"
                facts = {"who": who(concluded.number), "reason": reason, "command": command}
                lines.append(worded("progress.failed", **facts))
        if concluded.status == "infeasible" and self.tally.streak == STREAK:
            command = f"tunewright show {name}"
            lines.append(worded("progress.streak", count=STREAK, reason=reason, command=command))
        return lines


def clock() -> str:
    """The time of day."""
    return time.strftime("%H:%M:%S")


def step_line(step: CampaignStep) -> str:
    """A campaign's step on one line."""
    return worded(
        "progress.step_cost" if step.trials else "progress.step",
        campaign=words.printable(step.campaign),
        step=step.number,
        kind=label(step.kind),
        trials=step.trials,
        left=step.left,
        reason=words.printable(step.reason.text),
    )
