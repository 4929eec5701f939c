"""The account of one attempt: what its executor reported, and what the store has of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tunewright.errors import OutOfDate, StoreError
from tunewright.execution.conclude import Seen
from tunewright.execution.executors.executor import (
    Applied,
    Began,
    Ended,
    Event,
    Logged,
    Saved,
    Stepped,
)
from tunewright.store.curves import Batch, merge, packed
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store
from tunewright.store.trial import Claim

FLUSH_S = 2.0  # curves wait this long for company ...
FLUSH_SHARE = 0.01  # ... or this share of the attempt's age, whichever is longer
_SAVED_S = 0.1  # a snapshot counts once it is recorded, with all the points before it


class Account:
    """Buffers the events of one claim until the store has them, and its outcome at the end.

    `write` may fail and be tried again; `settle` follows a commit.
    """

    def __init__(self, claim: Claim, watched: Sequence[str], now: float, command: str = "") -> None:
        """`watched` metrics must stay finite; `now` is monotonic; `command` does it again."""
        self.claim = claim
        self.began_at = now
        self.seen = Seen()
        self.outcome: Outcome | None = None  # how it ended, without its points
        self.spooled = False  # its end is in the trial folder
        self.whole: tuple[bytes, ...] | None = None  # all batches of this attempt, once it ended
        self.start_step = 0
        self.step: int | None = None  # the last one reported or logged; shown, never stored
        self.total: int | None = None  # steps in all, as the program reports them
        self._command = command
        self._watched = tuple(watched)
        self._flushed_at = now
        self._committed = 0  # batches of this attempt in the store
        self._began: Began | None = None
        self._points: list[bytes] = []  # as they came
        self._offered: list[bytes] = []  # as the store was given them, perhaps in vain
        self._snapshots: list[Saved] = []
        self._applied: dict[str, Any] = {}  # every value that the program reported it used
        self._applied_new = False  # and the store lacks some of them

    def take(self, event: Event) -> None:
        """Note an event of the executor, its end excepted."""
        if isinstance(event, Logged):
            self._points.append(event.points)
            self.seen = self.seen.adding(event.points, self._watched)
            self._at(self.seen.step)
        elif isinstance(event, Stepped):
            self._at(event.step)
            self.total = event.total if event.total is not None else self.total
        elif isinstance(event, Saved):
            self._snapshots.append(event)
        elif isinstance(event, Began):
            self._began = event
            self.start_step = event.start_step
        elif isinstance(event, Applied):
            self._applied |= event.values
            self._applied_new = True

    def _at(self, step: int | None) -> None:
        if step is not None:
            self.step = step if self.step is None else max(step, self.step)

    def end(self, outcome: Outcome) -> None:
        """Note how it ended; nothing more comes."""
        self.outcome = outcome

    def due(self, now: float) -> bool:
        """Whether it is time to commit: at once when it has ended, else after a while."""
        if self.outcome is not None:
            return True
        if not (
            self._points or self._offered or self._snapshots or self._began or self._applied_new
        ):
            return False
        return now >= self.due_at(now)

    def due_at(self, now: float) -> float:
        """When what is reported now should be committed."""
        if self._snapshots:
            return self._flushed_at + _SAVED_S
        return self._flushed_at + max(FLUSH_S, FLUSH_SHARE * (now - self.began_at))

    def unsaid(self) -> tuple[tuple[bytes, ...], int]:
        """The batches that are not known to be stored, and the place of the first.

        What was offered once keeps its place and content: if only the answer was lost, the store
        recognises it.
        """
        if self._points:
            self._offered.append(join_batches(self._points))
            self._points = []
        return tuple(self._offered), self._committed

    def recall(self, store: Store) -> None:
        """Read back what is stored, so that the trial folder can hold whole curves.

        Even a lost store can then be made again from the folders. If it cannot be read, what it
        lacks is kept alone.
        """
        batches, first = self.unsaid()
        known: list[bytes] = []
        if first:
            with contextlib.suppress(StoreError):
                known = store.batches(self.claim)
        if len(known) == first:
            self.whole = (*known, *batches)

    def end_event(self) -> Ended:
        """How it ended, with the points that the store may lack, or with all if they are known."""
        assert self.outcome is not None
        batches, first = self.unsaid()
        if self.whole is not None:
            batches, first = self.whole, 0
        outcome = replace(self.outcome, start_step=self.start_step, first=first, batches=batches)
        return Ended(self.claim.trial, self.claim.attempt, outcome)

    def write(self, store: Store) -> None:
        """Write everything that is new to the store, inside its open transaction."""
        batches, first = self.unsaid()
        if self.outcome is None:
            self._write_begin(store)
            store.log(self.claim, batches, first=first)
            return
        with contextlib.suppress(OutOfDate):
            # refused if this very end is committed and only the answer was lost: the write of the
            # end below knows, and is refused itself if the lease was lost
            self._write_begin(store)
        store.end(self.claim, replace(self.outcome, first=first, batches=batches))

    def _write_begin(self, store: Store) -> None:
        """Record the start of the attempt and its snapshots."""
        if (began := self._began) is not None:
            where = (
                f"{began.worker} on {','.join(began.devices)}" if began.devices else began.worker
            )
            store.began(self.claim, began.start_step, where, self._command)
        for snapshot in self._snapshots:
            store.add_snapshot(self.claim, snapshot.step, snapshot.path, snapshot.sha256)
        if self._applied_new:
            store.keep_applied(self.claim, self._applied)

    def settle(self, now: float) -> None:
        """What was written is committed: forget it."""
        self._committed += len(self._offered)
        self._began, self._offered, self._snapshots = None, [], []
        self._applied_new = False
        self._flushed_at = now


def join_batches(batches: Sequence[bytes]) -> bytes:
    """Several batches of one attempt as one: a row of the store each would be too many."""
    if len(batches) == 1:
        return batches[0]
    curves = merge([Batch(1, 0, points) for points in batches])
    return packed(curves)
