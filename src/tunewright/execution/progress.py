"""How far a supervisor is: the events of its watcher, and when a round is hopeless."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles

from tunewright.errors import NotFound, StoreError
from tunewright.execution.account import Account
from tunewright.execution.conclude import Seen
from tunewright.messages import words
from tunewright.progress.tally import Tally
from tunewright.progress.watcher import Concluded, Reached, RoundStarted, Silent, Started, Watcher
from tunewright.store.curves import Batch, Curves
from tunewright.store.judge import Judged, judge
from tunewright.store.outcome import NEVER_LOGGED, Outcome
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Claim, Status, Trial

REACHED_S = 1.0  # between two events about a trial's step


class Progress:
    """Counts what ended in this call, and knows the best trial of the round so far."""

    def __init__(
        self, store: Store, record: RoundRecord, watch: Watcher, opening: RoundStarted | None = None
    ) -> None:
        """`record` has how the round stood before this call, `opening` what the watcher knows."""
        self.ended = 0  # trials that came to an end in this call
        self._failed = 0
        self._store = store
        self._record = record
        self._watch = watch
        self._silent = type(watch) is Silent
        self._mute = 0  # trials of this call that ended well and logged nothing
        self._steps_name = record.meaning.name("max_train_steps") if not self._silent else ""
        self._tally = Tally.of(opening) if opening is not None else Tally(record.name, "", 0, 0)
        self._reached_at: dict[int, float] = {}  # trial -> when its step was last an event
        self._lengths: list[float] = []  # of completed trials, in seconds
        good: tuple[Status, ...] = ("completed", "infeasible", "pruned")
        self._any_good = any(record.counts.get(status) for status in good)
        self._best = None if self._silent else self._best_before()

    def trial_log(self, account: Account, ended: Outcome) -> Seen:
        """What the trial has logged; if this attempt went without the objective, by all of them."""
        seen = account.seen
        missing = self._record.objective.metric not in seen.metrics
        if missing and ended.status == "completed" and account.claim.attempt > 1:
            trial = self._trial_in_store(account.claim)
            earlier = tuple(trial.curves) if trial else ()
            return replace(seen, metrics=tuple(dict.fromkeys((*earlier, *seen.metrics))))
        return seen

    def note_start(self, claim: Claim, running: int) -> None:
        """Report a trial that begins."""
        if self._silent:
            return
        started = Started(claim, running, total=self._total_of(claim))
        self._tally = self._tally.after_start(started, time.monotonic())
        self._watch.claimed(started)

    def note_step(self, account: Account) -> None:
        """Report a trial's step, at most once a second."""
        now, claim = time.monotonic(), account.claim
        if self._silent or account.step is None:
            return
        if now - self._reached_at.get(claim.trial, -REACHED_S) < REACHED_S:
            return
        self._reached_at[claim.trial] = now
        reached = Reached(
            claim,
            step=account.step,
            total=account.total or self._total_of(claim),
            start_step=account.start_step,
            seconds=now - account.began_at,
        )
        self._tally = self._tally.after_reach(reached, now)
        self._watch.reached(replace(reached, left_s=self._tally.left_s(now)))

    def ends(self, account: Account, outcome: Outcome, running: int) -> None:
        """Count an attempt whose end is committed, and send it to the watcher."""
        status = outcome.becomes
        if status != "pending":
            self.ended += 1
            self._failed += status == "failed"
            self._mute += _is_mute(outcome)
        if status == "completed":
            self._lengths.append(outcome.seconds)
        if self._silent:
            return
        claim, judged, value = account.claim, outcome, None
        if outcome.status == "completed":
            verdict = self._verdict(account)
            value = verdict.value
            if verdict.status != "pending" and verdict.status != "running":
                judged = replace(outcome, status=verdict.status, reason=verdict.reason)
        concluded = Concluded(claim, judged, value, running)
        self._reached_at.pop(claim.trial, None)
        self._tally = self._tally.after_end(concluded)
        self._watch.ended(concluded)
        if claim.number is not None and self._is_best(value):
            self._best = value
            self._watch.best(concluded)

    def hopeless(self, first: int) -> bool:
        """Whether the round's first trials to end have all failed.

        One trial that ended well and logged nothing is enough: the program does not log.
        """
        all_failed = not self._any_good and self._failed == self.ended
        return all_failed and (self.ended >= first or self._mute > 0)

    def time_left(self, ages: Sequence[float]) -> str:
        """How long trials of these ages may still take, as a range; empty when nothing is known."""
        if not self._lengths:
            return ""
        short, long = self._lengths[0], self._lengths[0]
        if len(self._lengths) > 1:
            short, _, long = quantiles(self._lengths, n=4, method="inclusive")
        low, high = (max(max(length - age, 0.0) for age in ages) for length in (short, long))
        return f"{words.rough_duration(low)} to {words.rough_duration(high)} left"

    def _total_of(self, claim: Claim) -> int | None:
        """The steps that its configuration asks for, where it has them."""
        steps = (claim.configuration or {}).get(self._steps_name)
        return steps if type(steps) is int else None

    def _verdict(self, account: Account) -> Judged:
        if account.whole is not None and account.start_step == 0:
            batches = [Batch(account.claim.attempt, 0, points) for points in account.whole]
            return judge(self._record.objective, "completed", None, Curves(batches))
        trial = self._trial_in_store(account.claim)
        if trial is None:
            return Judged("completed")
        return Judged(trial.status, trial.reason, trial.value, trial.best_step)

    def _is_best(self, value: float | None) -> bool:
        if value is None:
            return False
        return self._best is None or self._record.objective.better(value, self._best)

    def _trial_in_store(self, claim: Claim) -> Trial | None:
        """The trial as the store has it; None while the store cannot be reached."""
        try:
            return self._store.trial(claim.trial)
        except StoreError:
            return None

    def _best_before(self) -> float | None:
        if not self._record.counts.get("completed"):
            return None
        try:
            return self._store.results_of_claimed(self._record).best().value
        except NotFound:
            return None


def _is_mute(outcome: Outcome) -> bool:
    """Whether the program came to its end and had logged nothing at all."""
    reason = outcome.reason
    if reason is None or reason.code != NEVER_LOGGED:
        return False
    return reason.facts.get("logged") == []
