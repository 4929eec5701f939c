"""An outcome as rows: written whole where the fence holds, not at all where it does not."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, update
from tests.store.record_parts import KILLED, begun, curve, rows

from tunewright.store import fenced_writes
from tunewright.store.fenced_writes import ENDING
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.schema import attempt, curve as curve_table, trial
from tunewright.store.store import Store

OWN = update(trial).where(
    trial.c.id == bindparam("own_trial"), trial.c.attempt == bindparam("own_attempt")
)


def test_a_fence_that_does_not_hold_leaves_every_table_as_it_was(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        before = [rows(store, table) for table in (trial, attempt, curve_table)]
        ended = Ended(claim.trial, 2, Outcome("completed", batches=(curve(0.1),)))
        with store._database.writing() as connection:
            fenced = OWN.values(ENDING)
            assert not fenced_writes.write_outcome(
                store._database, connection, fenced, ended, at=None
            )
        assert [rows(store, table) for table in (trial, attempt, curve_table)] == before


def test_every_part_of_an_outcome_has_its_place(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.log(claim, [curve(0.9)])
        outcome = Outcome(
            "died",
            KILLED,
            "the tail",
            seconds=2.0,
            peak_memory_mb=7.0,
            start_step=4,
            batches=(curve(0.8, first=2),),
        )
        with store._database.writing() as connection:
            ended = Ended(claim.trial, 1, outcome)
            done = fenced_writes.write_outcome(
                store._database, connection, OWN.values(ENDING), ended, at=9.0
            )
        assert done
        row = rows(store, trial)[0]
        assert (row["status"], row["detail"], row["deaths"]) == ("pending", "the tail", 1)
        assert (row["seconds"], row["peak_memory_mb"]) == (2.0, 7.0)
        (own,) = store.attempts(claim.trial)
        assert (own.outcome, own.cause, own.seconds, own.start_step) == ("died", KILLED, 2.0, 4)
        assert own.ended is not None and own.ended.timestamp() == 9.0
        assert len(store.batches(claim)) == 2, "after the points that the store has"


@pytest.mark.parametrize("second", [None, 5.0])
def test_a_peak_that_was_not_measured_keeps_the_one_before(
    store_url: str, second: float | None
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        for peak, status in ((3.0, "stopped"), (second, "completed")):
            (claim,) = store.claim(record.id, worker, 1)
            store.end(claim, Outcome(status, peak_memory_mb=peak))
        assert store.trial(claim.trial).peak_memory_mb == (second or 3.0)
