"""Where a round stands while it runs: counts, the best so far, the time left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tunewright.execution.watcher import Concluded, Started
from tunewright.messages import words
from tunewright.present.terminal.time_left import time_left

REMEMBERED = 500  # trials whose length the estimate of the time left looks at
STREAK = 5  # infeasible trials in a row worth a warning


@dataclass(frozen=True)
class Tally:
    """What has been told of a running round so far."""

    round: str
    metric: str
    total: int  # trials of the round
    done: int  # of them, ended
    infeasible: int = 0
    failed: int = 0
    pruned: int = 0
    running: tuple[tuple[int | None, float], ...] = ()  # (number, when it began), oldest first
    most_running: int = 0  # how many ran at once at most: the slots in use
    ended_s: tuple[float, ...] = ()  # how long the latest trials of this call took
    best: Concluded | None = None
    streak: int = 0  # infeasible trials in a row
    fixed: tuple[str, ...] = ()  # names that need not be said with every configuration

    def after_start(self, started: Started, now: float) -> Tally:
        """With one more trial running."""
        running = (*self.running, (started.number, now))
        return replace(self, running=running, most_running=max(self.most_running, len(running)))

    def after_end(self, concluded: Concluded) -> Tally:
        """With one trial less running; it counts as done unless another attempt is due."""
        at = next((i for i, (n, _) in enumerate(self.running) if n == concluded.number), None)
        running = self.running if at is None else self.running[:at] + self.running[at + 1 :]
        if concluded.status == "pending":
            return replace(self, running=running)
        infeasible = concluded.status == "infeasible"
        return replace(
            self,
            running=running,
            done=self.done + 1,
            infeasible=self.infeasible + infeasible,
            failed=self.failed + (concluded.status == "failed"),
            pruned=self.pruned + (concluded.status == "pruned"),
            ended_s=(*self.ended_s, concluded.seconds)[-REMEMBERED:],
            streak=self.streak + 1 if infeasible else 0,
        )

    def left_s(self, now: float) -> tuple[float, float] | None:
        """The seconds left as a range, or None while nothing is known."""
        ages = [now - began for _, began in self.running]
        pending = max(0, self.total - self.done - len(ages))
        # the first trial of every slot also paid for starting it; soon enough others are known
        starts = self.most_running if len(self.ended_s) > 2 * self.most_running else 0
        return time_left(pending, ages, self.most_running, self.ended_s[starts:])

    def head(self, now: float) -> str:
        """The counts on one line."""
        parts = [f"{self.done}/{self.total}"]
        if self.infeasible:
            parts.append(f"{self.infeasible} infeasible")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.pruned:
            parts.append(f"{self.pruned} pruned")
        if self.running:
            parts.append(f"{len(self.running)} running")
        if self.done < self.total and (left := self.left_s(now)):
            parts.append(f"{words.duration_range(*left)} left")
        return "  ".join(parts)

    def best_line(self) -> str:
        """The best trial so far with its configuration, or nothing yet."""
        if self.best is None:
            return ""
        of = "a repeat" if self.best.number is None else f"trial {self.best.number}"
        settings = self.shown(self.best.configuration)
        metric = words.printable(self.metric)
        return f"best {words.number(self.best.value)} {metric}  {of}  {settings}".rstrip()

    def shown(self, configuration: Mapping[str, object]) -> str:
        """What varies of a configuration; everything when nothing does."""
        return words.configuration(configuration, self.fixed) or words.configuration(configuration)
