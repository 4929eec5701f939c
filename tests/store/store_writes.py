"""What owners tell a store about their trials, in time or too late; events of a state machine.

Each write is accepted exactly when the model says that the owner still holds the trial; else it is
refused as OutOfDate and changes nothing.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition
from tests.store.record_parts import OBJECTIVE, STOPPED
from tests.store.store_events import CONFIGURATION, StoreEvents, pick, step, which
from tests.store.store_model import End, Held, Points

from tunewright.errors import OutOfDate
from tunewright.execution.conclude import Seen, conclude
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.spool import write_result, write_trial
from tunewright.store.trial import ENDED

METRIC = OBJECTIVE.metric
outcomes = st.sampled_from(["completed", "died", "stopped", "infeasible", "failed"])
few = st.integers(0, 2)

LATE = STOPPED


class Killed(BaseException):
    """The process was killed at this very point."""


def packed(points: Points) -> bytes:
    return pack({METRIC: (list(points), list(points.values()))})


def outcome_of(end: End) -> Outcome:
    return Outcome(
        end.outcome,
        end.reason,
        seconds=end.seconds,
        start_step=end.start_step,
        first=min(end.batches, default=0),
        batches=tuple(map(packed, end.batches.values())),
    )


class StoreWrites(StoreEvents):
    """A training that begins, logs, saves and ends, as its owner tells it."""

    def at_work(self, claim: int) -> Held | None:
        """A claim of somebody who is still at it; without any, somebody claims a trial first."""
        if not (hands := self.hands()):
            self.claim_for(self.somebody(claim), 1)
            hands = self.hands()
        return pick(hands, claim) if hands else None

    def hands(self) -> list[Held]:
        """Claims whose owners can act and do not know of an end; some were lost long ago."""
        return [held for held in self.held if not (held.owner.killed or held.ending)]

    def fenced(self, held: Held, write: Callable[[], None]) -> bool:
        """Write what only the holder may; whether it was accepted, which must be as it should."""
        if self.model.holds(held.claim):
            write()
            return True
        with pytest.raises(OutOfDate):
            write()
        return False

    @step(claim=which, start=which)
    def start(self, claim: int, start: int) -> None:
        """An attempt begins, perhaps after some steps that were done before."""
        held = self.at_work(claim)
        if held is None or not self.fill(held):
            return
        store, trial = held.owner.store, self.model.trials[held.claim.trial]
        write_trial(self.root / held.claim.folder, held.claim)
        at = pick([0, *trial.curve()], start)
        held.start_step, held.step = at, max(held.step, at)
        if self.fenced(held, lambda: store.began(held.claim, at, "here")):
            attempt = self.model.attempt(held.claim)
            attempt.began, attempt.start_step = True, at

    def fill(self, held: Held) -> bool:
        """An adaptive search gives the claimed trial its configuration, unless it was lost."""
        if held.filled:
            return True
        store = held.owner.store
        if not self.fenced(held, lambda: store.fill(held.claim, CONFIGURATION, {})):
            return False
        held.filled = self.model.trials[held.claim.trial].filled = True
        return True

    def train(self, held: Held, count: int) -> None:
        """One more batch of points, no two of which are alike."""
        steps = range(held.step + 1, held.step + 1 + count)
        held.batches.append({at: float(next(self.values)) for at in steps})
        held.step += count

    def unsaid(self, held: Held) -> dict[int, Points]:
        return dict(list(enumerate(held.batches))[held.told :])

    def log_of(self, held: Held, placed: bool = True) -> bool:
        """Log what is not known to be in the record, as one more batch or by its place."""
        batches = self.unsaid(held)
        placed = placed or len(self.model.attempt(held.claim).batches) != held.told
        data, first = [packed(b) for b in batches.values()], held.told if placed else None
        done = self.fenced(held, lambda: held.owner.store.log(held.claim, data, first))
        if done:
            self.model.attempt(held.claim).keep(batches)
        return done

    @step(claim=which, count=st.integers(1, 3), placed=st.booleans(), answered=st.booleans())
    def log(self, claim: int, count: int, placed: bool, answered: bool) -> None:
        held = self.at_work(claim)
        if held is None or not self.fill(held):
            return
        self.train(held, count)
        if self.log_of(held, placed) and answered:
            held.told = len(held.batches)
        path = f"snapshots/{held.step}"
        if self.fenced(
            held, lambda: held.owner.store.add_snapshot(held.claim, held.step, path, "ab")
        ):
            self.model.trials[held.claim.trial].snapshots.add((held.claim.attempt, held.step))

    @precondition(lambda self: self.hands())
    @step(claim=which, killed=st.booleans())
    def log_together(self, claim: int, killed: bool) -> None:
        """An owner commits all its trials together; some may be lost, or it is killed before."""
        owner = pick(self.hands(), claim).owner
        own = [held for held in self.hands() if held.owner is owner and held.filled]
        for held in own:
            self.train(held, 1)
        if not killed:
            with owner.store.transaction():
                done = [held for held in own if self.log_of(held)]
            for held in done:
                held.told = len(held.batches)
            return
        with pytest.raises(Killed), owner.store.transaction():
            for held in own:
                with contextlib.suppress(OutOfDate):
                    last = [packed(points) for points in held.batches]
                    owner.store.end(held.claim, Outcome("completed", batches=last, first=0))
            raise Killed
        self.killed(owner)

    @step(claim=which, outcome=outcomes, count=few, left=st.booleans(), times=st.integers(1, 3))
    def end(self, claim: int, outcome: Any, count: int, left: bool, times: int) -> None:
        """An attempt ends: perhaps left in its folder, then told; and so may the next one."""
        held = self.at_work(claim)
        while held is not None and self.fill(held):
            held.ending = self.ending(held, outcome, count)
            if left:
                self.leave_behind(held, held.ending)
            self.tell_end(held, held.ending)
            times -= 1
            again, before = held, len(self.held)
            if times:
                self.claim_for(held.owner, 1)
            held = self.held[-1] if len(self.held) > before else None
            self.tell_end(again, again.ending)  # its answer was lost

    @precondition(lambda self: self.late())
    @step(claim=which, left=st.booleans())
    def come_back(self, claim: int, left: bool) -> None:
        """An owner that does not know what it has lost leaves an end in the folder, and tells."""
        held = pick(self.late(), claim)
        if left and held.filled:
            held.ending = held.ending or self.ending(held, "completed")
            self.leave_behind(held, held.ending)
        self.write_late(held)

    def late(self) -> list[Held]:
        """Claims that are no longer anybody's, but whose owners may not know it."""
        return [h for h in self.held if not h.owner.killed and not self.model.holds(h.claim)]

    def write_late(self, held: Held) -> None:
        """Everything that can be told is refused, but for the end that the record has already."""
        store, own, last = held.owner.store, held.claim, [packed({1: -1.0})]
        trial = self.model.trials[own.trial]
        for write in (
            lambda: store.fill(own, {"layers": 9}, {}),
            lambda: store.began(own, 7, "late"),
            lambda: store.log(own, last),
            lambda: store.add_snapshot(own, 7, "late", "ab"),
            lambda: store.end(own, Outcome("died", LATE, batches=last)),
        ):
            assert not self.fenced(held, write)
        for status in ENDED:
            late = Outcome(status, LATE, seconds=9.0, batches=last)
            write = functools.partial(store.end, own, late)
            if (trial.status, len(trial.attempts)) == (status, own.attempt):
                write()  # told again, or found in the folder meanwhile: it counts once
            else:
                assert not self.fenced(held, write)
        if held.owner.retired:
            self.beat_of(held.owner)

    @step(claim=which, outcome=outcomes, count=few, killed=st.booleans())
    def end_untold(self, claim: int, outcome: Any, count: int, killed: bool) -> None:
        """An end that reaches the folder, but not the store: its owner is killed or cut off."""
        if (held := self.at_work(claim)) is not None and self.fill(held):
            held.ending = self.ending(held, outcome, count)
            self.leave_behind(held, held.ending)
            if killed:
                self.killed(held.owner)

    def ending(self, held: Held, outcome: Any, count: int = 1) -> End:
        """What becomes of the trial is decided as everywhere: by `conclude`."""
        if count:
            self.train(held, count)
        own, seconds = held.claim, float(next(self.values))
        cause = Message("foreign", {"source": "test", "text": f"it {outcome}"})
        ended = Outcome(outcome, cause, seconds=seconds)
        verdict = conclude(ended, Seen((METRIC,)), OBJECTIVE, own.attempts_died)
        third = outcome == "died" and own.attempts_died == 2
        again = outcome in ("died", "stopped") and not third
        assert verdict.becomes == ("pending" if again else "failed" if third else outcome)
        assert (verdict.status == "died") == (outcome == "died" and not third)
        first = max(held.told - 1, 0)  # one that is there already is passed over
        batches = dict(list(enumerate(held.batches))[first:])
        parts = verdict.becomes, verdict.reason, verdict.status == "died", seconds
        return End(*parts, held.start_step, batches)

    def leave_behind(self, held: Held, end: End) -> None:
        ended = Ended(held.claim.trial, held.claim.attempt, outcome_of(end))
        write_result(self.root / held.claim.folder, ended)
        self.model.trials[held.claim.trial].left[held.claim.attempt] = end

    def tell_end(self, held: Held, end: End) -> None:
        store, own, trial = held.owner.store, held.claim, self.model.trials[held.claim.trial]
        outcome = replace(outcome_of(end), start_step=None)  # the store has it
        write = functools.partial(store.end, own, outcome)
        known = (trial.status, len(trial.attempts)) == (end.status, own.attempt)
        if (known and end.status in ENDED) or self.model.has_end(own, end):
            write()  # told again, or found in the folder meanwhile: it counts once
            return
        if self.fenced(held, write):
            trial.end(trial.attempts[-1], end)
