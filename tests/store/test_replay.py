"""The replay of a trial's history: the same for recovery, rebuild and import, and fenced."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from tests.store.record_parts import KILLED, STOPPED, begun, curve, rows

from tunewright.store.leases import add_retired
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.replay import NEW, UNOWNED, Fence, add_row, replay
from tunewright.store.schema import attempt, curve as curve_table, trial
from tunewright.store.store import Store
from tunewright.store.trial import NOBODY, Claim

TABLES = (trial, attempt, curve_table)
HISTORY = [
    Ended(0, 1, Outcome("died", KILLED, seconds=1.0, peak_memory_mb=9.0, first=0)),
    Ended(0, 3, Outcome("completed", seconds=2.0, first=0, batches=(curve(0.4, 0.3),))),
]


def claimed(number: int = 40, attempt: int = 3) -> Claim:
    return Claim(
        trial=0,
        attempt=attempt,
        number=number,
        study=0,
        index=None,
        configuration={"layers": 1, "learning_rate": 0.1},
        unit={},
        seed=7,
        folder=f"r1-x/t{number:06d}",
    )


def played(store: Store, claim: Claim, ends: list[Ended], fence: Fence) -> list[Ended]:
    with store._database.writing() as connection:
        return replay(store._database, connection, claim, ends, fence)


def test_a_history_becomes_a_row_its_attempts_and_its_curves(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, _ = begun(store)
        with store._database.writing() as connection:
            keeper = add_retired(connection, "elsewhere")
            key = add_row(connection, record.id, claimed(), "halton", {}, command="train again")
            own = Claim(**{**vars(claimed()), "trial": key})
            written = replay(store._database, connection, own, HISTORY, Fence(NEW, keeper))
        assert [(e.trial, e.attempt) for e in written] == [(key, 1), (key, 3)]
        made = store.trial(key or 0)
        assert (made.status, made.value, made.attempts, made.seconds) == ("completed", 0.3, 3, 3.0)
        assert made.peak_memory_mb == 9.0 and made.seed == 7
        found = store.attempts(made)
        assert [a.outcome for a in found] == ["died", "lost", "completed"]
        with store.reading() as connection:
            owners = connection.execute(select(attempt.c.worker).where(attempt.c.trial == key))
            assert set(owners.scalars()) == {keeper}


def test_replayed_twice_it_counts_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.retire(worker)
        ends = [Ended(claim.trial, 1, Outcome("stopped", STOPPED, seconds=1.0, first=0))]
        assert len(played(store, claim, ends, Fence(UNOWNED))) == 1
        before = [rows(store, table) for table in TABLES]
        assert played(store, claim, ends, Fence(UNOWNED)) == []
        assert [rows(store, table) for table in TABLES] == before


@pytest.mark.parametrize("held", [True, False])
def test_what_somebody_alive_runs_is_not_touched(store_url: str, held: bool) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        if not held:
            store.end(claim, Outcome("completed", batches=(curve(0.5),)))
        before = [rows(store, table) for table in TABLES]
        late = [Ended(claim.trial, n, Outcome("failed", KILLED, first=0)) for n in (1, 2)]
        assert played(store, claim, late, Fence(UNOWNED)) == []
        assert [rows(store, table) for table in TABLES] == before


def test_an_attempt_that_only_began_is_lost_and_its_number_is_kept(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.end(claim, Outcome("stopped", STOPPED))
        begun_twice = Claim(**{**vars(claim), "attempt": 2})
        assert played(store, begun_twice, [], Fence(UNOWNED)) == []
        found = store.attempts(claim.trial)
        assert [a.outcome for a in found] == ["stopped", "lost"]
        assert rows(store, attempt)[-1]["worker"] == NOBODY
        (again,) = store.claim(record.id, worker, 1)
        assert (again.trial, again.attempt) == (claim.trial, 3)


def test_a_trial_that_failed_and_was_reopened_ends_as_its_last_attempt(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, _ = begun(store)
        ends = [
            Ended(0, 1, Outcome("failed", KILLED, first=0)),
            Ended(0, 2, Outcome("completed", first=0, batches=(curve(0.2),))),
        ]
        with store._database.writing() as connection:
            key = add_row(connection, record.id, claimed(attempt=2), "halton", {})
            own = Claim(**{**vars(claimed(attempt=2)), "trial": key})
            replay(store._database, connection, own, ends, Fence(NEW))
        assert (store.trial(key or 0).status, store.trial(key or 0).value) == ("completed", 0.2)


def test_a_repeat_without_its_trial_has_no_row(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, _ = begun(store)
        repeat = Claim(**{**vars(claimed()), "number": None, "folder": "r1-x/t000040.repeat1"})
        with store._database.writing() as connection:
            assert add_row(connection, record.id, repeat, "halton", {}) is None
            parent = add_row(connection, record.id, claimed(), "halton", {})
            assert parent is not None
            key = add_row(connection, record.id, repeat, "halton", {40: parent})
        own = store.trial(key or 0)
        assert (own.number, own.parent) == (None, 40)
