"""Fenced writes: only the owner of the newest attempt changes a trial, and twice is once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.store.record_parts import KILLED, STOPPED, begun, complete, curve, rows

from tunewright.errors import OutOfDate, StoreError
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import Outcome
from tunewright.store.schema import attempt, curve as curve_table, trial as trial_table
from tunewright.store.store import Claim, Store

TABLES = (trial_table, attempt, curve_table)
Write = Callable[[Store, Claim], None]
WRITES: dict[str, Write] = {
    "fill": lambda store, claim: store.fill(claim, {"layers": 9}, {}),
    "began": lambda store, claim: store.began(claim, 5, "late"),
    "log": lambda store, claim: store.log(claim, [curve(0.9)]),
    "saved": lambda store, claim: store.add_snapshot(claim, 5, "x", "y"),
    "finish": lambda store, claim: store.end(claim, Outcome("failed", KILLED)),
    "release": lambda store, claim: store.end(claim, Outcome("died", KILLED)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_an_owner_that_lost_its_lease_changes_nothing(store_url: str, write: Write) -> None:
    with Store.open(store_url) as store:
        record, old = begun(store)
        new = store.register(record.id, "session", exclusive=False)
        (stale,) = store.claim(record.id, old, 1)
        store.retire(old)
        store.reclaim(record.id, LeaseWatch())
        (claim,) = store.claim(record.id, new, 1)
        assert (claim.number, claim.attempt) == (0, 2)
        before = [rows(store, table) for table in TABLES]
        with pytest.raises(OutOfDate, match="attempt 1 of trial 0 is no longer"):
            write(store, stale)
        assert [rows(store, table) for table in TABLES] == before
        complete(store, claim, 0.25)
        with pytest.raises(OutOfDate):
            write(store, stale)
        trial = store.results("depth").trials[0]
        assert (trial.status, trial.value, trial.attempts) == ("completed", 0.25, 2)


def test_a_finish_told_twice_counts_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        for _ in range(2):  # the first answer was lost
            store.end(claim, Outcome("completed", batches=[curve(0.5)], first=0, seconds=3.0))
        trial = store.results("depth").trials[0]
        assert trial.seconds == 3.0 and len(trial.curves["valid_error"]) == 1
        with pytest.raises(OutOfDate):
            store.end(claim, Outcome("failed", KILLED))


def test_a_batch_told_twice_stands_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.log(claim, [curve(0.5)], first=0)
        store.log(claim, [curve(0.5), curve(0.4, first=2)], first=0)
        store.log(claim, [curve(0.3, first=3)])
        assert store.batches(claim) == [curve(0.5), curve(0.4, first=2), curve(0.3, first=3)]
        store.add_snapshot(claim, 3, "snapshots/3", "ab")
        store.add_snapshot(claim, 3, "snapshots/3", "ab")
        assert len(store.snapshots(claim.trial)) == 1


def test_only_a_death_counts_and_points_after_the_resume_are_superseded(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (first,) = store.claim(record.id, worker, 1)
        store.log(first, [curve(0.9, 0.8, 0.7, 0.1)])
        store.end(first, Outcome("died", KILLED, seconds=1.0))
        (second,) = store.claim(record.id, worker, 1)
        assert (second.number, second.attempt, second.attempts_died) == (0, 2, 1)
        store.began(second, 2, "host 2")
        store.end(second, Outcome("stopped", STOPPED, seconds=1.0))
        (third,) = store.claim(record.id, worker, 1)
        assert (third.attempt, third.attempts_died) == (3, 1)
        store.began(third, 2, "host 3")
        store.end(third, Outcome("completed", batches=[curve(0.6, 0.5, first=3)], seconds=1.0))
        trial = store.results("depth").trials[0]
        assert list(trial.curves["valid_error"].values) == [0.9, 0.8, 0.6, 0.5]
        assert (trial.value, trial.attempts, trial.seconds) == (0.5, 3, 3.0)
        outcomes = [a.outcome for a in store.attempts(trial.identity)]
        assert outcomes == ["died", "stopped", "completed"]


def test_a_trial_ends_in_one_of_three_ways(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        with pytest.raises(StoreError, match="completed, infeasible, failed"):
            store.end(claim, Outcome("pending"))
