"""Where a round stands while it runs: counts, steps, the best so far, the time left."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tunewright.messages import label, worded, words
from tunewright.progress.watcher import Concluded, Reached, RoundStarted, Started
from tunewright.store.read_round import Attempt
from tunewright.store.results import Results
from tunewright.store.trial import Trial

Under = tuple[float, float | None]  # the age of a running trial, and its length by its step rate
_REMEMBERED = 500  # trials whose length the estimate of the time left looks at
STREAK = 5  # infeasible trials in a row worth a warning
_APART_S = 0.9  # two reports of a step that are nearer do not measure the rate
_SHORTEST_S = 1.0  # less time left than this is not worth a word


def time_left(
    pending: int, running: Sequence[Under], slots: int, ended_s: Sequence[float]
) -> tuple[float, float] | None:
    """The seconds left as (low, high); None while neither an end nor a step rate is known.

    `running` holds the age of every running trial and its whole length, if its steps show it;
    `ended_s` how long each ended one took. The ends of the range are two standard deviations of the
    sum of what is left away, counting that the mean itself comes from few trials; the last trials
    of a round leave slots empty: that only adds time. Of a trial that is older than those before it
    and counts no steps nothing is known: if only such trials are left, the answer is None.

    >>> time_left(pending=10, running=[(5.0, None), (5.0, None)], slots=2, ended_s=[10.0] * 50)
    (55.0, 60.0)
    >>> low, high = time_left(pending=0, running=[(10.0, 40.0)], slots=1, ended_s=[])
    >>> low < 30 < high
    True
    >>> time_left(pending=0, running=[(17.0, None)], slots=1, ended_s=[10.0]) is None
    True
    """
    projected = [length for age, length in running if length is not None and length > age]
    lengths = [*ended_s, *projected]
    if not lengths:
        return None
    mean = statistics.fmean(lengths)
    # one ended trial does not show the spread: take half its length; steps are more regular
    lone = mean / 2 if ended_s or pending else mean / 8
    spread = statistics.stdev(lengths) if len(lengths) > 1 else lone
    rest = [_rest(age, length, mean) for age, length in running]
    if not pending and not any(rest):
        return None
    left = pending + len(running)
    # an overdue trial may take as long as trials differ
    work = pending * mean + sum(spread if rest_s is None else rest_s for rest_s in rest)
    doubt = 2 * math.sqrt(left * spread**2 + (left * spread) ** 2 / len(lengths))
    slots = max(1, min(slots, left))
    idle = mean / 2 if slots > 1 else 0.0
    # as a factor it can never promise nothing
    factor = 1 + doubt / work if work > 0 else 1.0
    return work / factor / slots, work * factor / slots + idle


def _rest(age: float, length: float | None, mean: float) -> float | None:
    """What a running trial has before it; None when it is overdue."""
    if length is not None and length > age:
        return length - age
    return mean - age if length is None and mean > age else None


@dataclass(frozen=True)
class Running:
    """A trial under way."""

    number: int | None
    trial: int
    began: float  # by the monotonic clock, as all times here
    total: int | None = None  # steps
    step: int | None = None  # the last one reported, ...
    at: float = 0.0  # ... and when
    first: tuple[int, float] | None = None  # the first one reported, and when

    def after_reach(self, reached: Reached, now: float) -> Running:
        """With a step reported now."""
        first = self.first or (reached.step, now)
        return replace(self, step=reached.step, at=now, first=first, total=reached.total)

    def length_s(self) -> float | None:
        """How long all of it takes, by the rate of its steps; None while that is not known.

        The rate is taken between reports: what came before the first step is paid once.
        """
        if self.step is None or self.total is None or self.first is None or self.step > self.total:
            return None
        step, at = self.first
        if self.step <= step or self.at - at < _APART_S:
            return None
        per_step = (self.at - at) / (self.step - step)
        return self.at - self.began + (self.total - self.step) * per_step


@dataclass(frozen=True)
class Tally:
    """What is known of a running round so far."""

    round: str
    metric: str
    total: int  # trials of the round
    done: int  # of them, ended
    infeasible: int = 0
    failed: int = 0
    pruned: int = 0
    running: tuple[Running, ...] = ()  # oldest first
    most_running: int = 0  # how many ran at once at most: the slots in use
    ended_s: tuple[float, ...] = ()  # how long the latest trials of this call took
    known_s: tuple[float, ...] = ()  # how long trials of the same program took elsewhere
    best: Concluded | None = None
    streak: int = 0  # infeasible trials in a row
    fixed: tuple[str, ...] = ()  # names that need not be shown with every configuration

    @classmethod
    def of(cls, round: RoundStarted, best: Concluded | None = None) -> Tally:
        """The tally of a round that begins."""
        return cls(
            round.name,
            round.metric,
            round.total,
            round.done,
            infeasible=round.counts.get("infeasible", 0),
            failed=round.counts.get("failed", 0),
            pruned=round.counts.get("pruned", 0),
            known_s=round.known_s,
            best=best,
            fixed=round.fixed,
        )

    def after_start(self, started: Started, now: float) -> Tally:
        """With one more trial running."""
        trial = Running(started.number, started.trial, now, started.total)
        running = (*self.running, trial)
        return replace(self, running=running, most_running=max(self.most_running, len(running)))

    def after_reach(self, reached: Reached, now: float) -> Tally:
        """With a trial at another step."""
        at = self._place(reached.number, reached.trial)
        if at is None:
            return self
        trial = self.running[at].after_reach(reached, now)
        return replace(self, running=(*self.running[:at], trial, *self.running[at + 1 :]))

    def after_end(self, concluded: Concluded) -> Tally:
        """With one trial less running; it counts as done unless another attempt is due."""
        at = self._place(concluded.number, concluded.trial)
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
            ended_s=(*self.ended_s, concluded.seconds)[-_REMEMBERED:],
            streak=self.streak + 1 if infeasible else 0,
        )

    def left_s(self, now: float) -> tuple[float, float] | None:
        """The seconds left as a range, or None while nothing is known."""
        running = [(now - trial.began, trial.length_s()) for trial in self.running]
        pending = max(0, self.total - self.done - len(running))
        # the first trial of every slot also paid for starting it; soon enough others are known
        starts = self.most_running if len(self.ended_s) > 2 * self.most_running else 0
        stepping = any(length is not None for _, length in running)
        ended = self.ended_s[starts:] or (() if stepping else self.known_s)
        return time_left(pending, running, self.most_running, ended)

    def head(self, now: float) -> str:
        """The counts on one line."""
        parts = [f"{self.done}/{self.total}"]
        if self.infeasible:
            parts.append(_count_of(self.infeasible, "infeasible"))
        if self.failed:
            parts.append(_count_of(self.failed, "failed"))
        if self.pruned:
            parts.append(_count_of(self.pruned, "pruned"))
        if self.running:
            parts.append(f"{_count_of(len(self.running), 'running')}{self.steps()}")
        if self.done < self.total and (left := self.left_s(now)) and left[1] >= _SHORTEST_S:
            parts.append(worded("progress.left", time=words.duration_range(*left)))
        return "  ".join(parts)

    def steps(self) -> str:
        """How far the oldest running trial is, in brackets; empty before its first step."""
        for trial in self.running:
            if trial.step is not None:
                name = "" if trial.number is None else f"{who(trial.number)}: "
                return f" ({name}{of_total(trial.step, trial.total)})"
        return ""

    def best_line(self) -> str:
        """The best trial so far with its configuration, or nothing yet."""
        if self.best is None:
            return ""
        settings = self.settings(self.best.configuration)
        metric = words.printable(self.metric)
        facts = {"value": self.best.value, "metric": metric, "who": who(self.best.number)}
        return worded("progress.best", settings=settings, **facts).rstrip()

    def settings(self, configuration: Mapping[str, object]) -> str:
        """What varies of a configuration; everything when nothing does."""
        return words.configuration(configuration, self.fixed) or words.configuration(configuration)

    def _place(self, number: int | None, trial: int) -> int | None:
        for at, each in enumerate(self.running):
            if (each.number, each.trial) == (number, trial):
                return at
        return None


def of_total(step: int, total: int | None) -> str:
    """A step of its total.

    >>> of_total(400, 2000), of_total(400, None)
    ('step 400/2,000', 'step 400')
    """
    if total is None or step > total:
        return worded("progress.at_step", step=step)
    return worded("progress.at_step_of", step=step, total=total)


def _count_of(count: int, status: str) -> str:
    return worded("of_status", count=count, status=label(status))


def who(number: int | None) -> str:
    """A trial by its number; a repeat has none."""
    if number is None:
        return worded("progress.a_repeat")
    return worded("progress.trial", number=number)


@dataclass(frozen=True)
class Standing:
    """How far a running trial is, as far as the store knows."""

    step: int | None  # the last one logged; None: nothing is logged yet
    total: int | None  # max_train_steps by meaning
    seconds: float  # since this attempt began
    rate: float | None  # steps per second of this attempt

    @property
    def left_s(self) -> float | None:
        """The time to the last step at this rate; None where that is not known."""
        if self.step is None or self.total is None or not self.rate or self.step > self.total:
            return None
        return (self.total - self.step) / self.rate


def standing(
    results: Results, trial: Trial, attempts: Sequence[Attempt], now: datetime | None = None
) -> Standing | None:
    """How far a trial is; None unless it runs."""
    running = [attempt for attempt in attempts if not attempt.outcome and attempt.began is not None]
    if trial.status != "running" or not running:
        return None
    attempt = running[-1]
    assert attempt.began is not None
    seconds = max(0.0, ((now or datetime.now(UTC)) - attempt.began).total_seconds())
    last = [int(curve.steps[-1]) for curve in trial.curves.values() if len(curve)]
    step = max(last, default=None)
    total = trial.configuration.get(results.meaning.name("max_train_steps"))
    done = 0 if step is None else step - attempt.start_step
    rate = done / seconds if done > 0 and seconds > 0 else None
    return Standing(step, total if type(total) is int else None, seconds, rate)
