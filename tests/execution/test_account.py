"""An account: a write whose answer was lost is written again and counts once, on both stores."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from tests.store.record_parts import KILLED, STOPPED, begun, curve, rows

from tunewright.errors import OutOfDate, StoreError
from tunewright.execution.account import Account
from tunewright.execution.executors.executor import Began, Logged, Saved
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import Outcome
from tunewright.store.schema import attempt, curve as curve_table, snapshot, trial as trial_table
from tunewright.store.store import Store
from tunewright.store.trial import Claim

TABLES = (trial_table, attempt, curve_table, snapshot)
ENDS: dict[str, Outcome] = {
    "completed": Outcome("completed", seconds=1.1),
    "infeasible": Outcome("infeasible", KILLED, seconds=0.3),
    "died": Outcome("died", KILLED, seconds=0.7),
    "stopped": Outcome("stopped", STOPPED, seconds=0.1),
}


@contextlib.contextmanager
def dying_after_commit(store: Store) -> Iterator[None]:
    """The next commit reaches the database; its answer does not, and the connection is gone."""
    dialect = store._database.engine.dialect
    commit = dialect.do_commit

    def lost(connection: Any) -> None:
        dialect.do_commit = commit
        commit(connection)
        connection.dbapi_connection.close()
        if store.path is None:
            import psycopg

            raise psycopg.OperationalError("server closed the connection unexpectedly")
        raise sqlite3.OperationalError("disk I/O error")

    dialect.do_commit = lost
    try:
        yield
    finally:
        dialect.do_commit = commit


def at_its_end(claim: Claim, outcome: Outcome) -> Account:
    """An attempt that began, logged, saved and ended before anything was committed."""
    account = Account(claim, ["valid_error"], now=0.0, command="again")
    account.take(Began(claim.trial, claim.attempt, 0, "host"))
    account.take(Logged(claim.trial, claim.attempt, curve(0.5, 0.4)))
    account.take(Saved(claim.trial, claim.attempt, 2, "snapshots/2", "ab"))
    account.end(outcome)
    return account


def write(account: Account, store: Store) -> None:
    with store.transaction():
        account.write(store)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("claimed_again", [False, True])
def test_an_end_whose_answer_was_lost_counts_once(
    store_url: str, end: str, claimed_again: bool
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        account = at_its_end(claim, ENDS[end])
        with dying_after_commit(store), pytest.raises(StoreError) as failed:
            write(account, store)
        assert not isinstance(failed.value, OutOfDate), "worth another try"
        if claimed_again:  # a trial that went back to pending is somebody else's by now
            store.claim(record.id, worker, 1)
        before = [rows(store, table) for table in TABLES]
        write(account, store)
        assert [rows(store, table) for table in TABLES] == before
        (own,) = (row for row in before[1] if (row["trial"], row["n"]) == (claim.trial, 1))
        assert own["outcome"] == end and own["seconds"] == ENDS[end].seconds


@pytest.mark.parametrize("end", ENDS)
def test_an_end_of_somebody_who_lost_the_lease_is_still_refused(store_url: str, end: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        new = store.register(record.id, "session", exclusive=False)
        (claim,) = store.claim(record.id, worker, 1)
        account = at_its_end(claim, ENDS[end])
        store.retire(worker)
        store.reclaim(record.id, LeaseWatch())
        store.claim(record.id, new, 1)
        before = [rows(store, table) for table in TABLES]
        with pytest.raises(OutOfDate):
            write(account, store)
        assert [rows(store, table) for table in TABLES] == before
