"""A worker beats from a thread, and goes off the list when its block is left."""

from __future__ import annotations

import time

import pytest
from tests.store.hand_clock import World, govern

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.round import Round
from tunewright.errors import Busy, OutOfDate, StoreError
from tunewright.execution import heartbeat as heartbeat_module
from tunewright.execution.heartbeat import LEASE_VARIABLE, Heartbeat, lease_s, on_duty
from tunewright.store import database
from tunewright.store.leases import LEASE_S
from tunewright.store.store import Store

DEADLINE_S = 30.0


@pytest.fixture
def opened(tmp_path):
    with Store.open(tmp_path / "tuning.db") as store:
        asked = Round("r", goal="?", nuisance={"x": [1, 2]}, trials_per_study=1)
        record = store.begin(
            asked, minimize("valid_error"), Meaning(), search="none", suggestions=None
        )
        yield store, record


def beats(store):
    with store._database.reading() as connection:
        return list(connection.exec_driver_sql("SELECT beat FROM worker ORDER BY id").scalars())


def wait_until(true):
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_beats_while_the_main_thread_is_busy(opened):
    store, record = opened
    worker = store.register(record.id, "supervisor", exclusive=True)
    with Heartbeat(store, worker, every_s=0.02):
        wait_until(lambda: beats(store) >= [3])
    after = beats(store)
    time.sleep(0.1)
    assert beats(store) == after


def test_a_beat_that_finds_no_descriptor_does_not_end_the_thread(opened, monkeypatch):
    store, record = opened
    worker, beat, failures = store.register(record.id, "session", exclusive=False), store.beat, []

    def scarce(worker):
        if not failures:
            failures.append(OSError("Too many open files"))
            raise failures[0]
        beat(worker)

    monkeypatch.setattr(store, "beat", scarce)
    with Heartbeat(store, worker, every_s=0.02):
        wait_until(lambda: beats(store) >= [2])


def test_on_duty_is_exclusive_and_ends_with_its_block(opened):
    store, record = opened
    with on_duty(store, record.id, "supervisor", exclusive=True):
        with pytest.raises(Busy), on_duty(store, record.id, "supervisor", exclusive=True):
            pass
        with on_duty(store, record.id, "session", exclusive=False):
            pass
    with on_duty(store, record.id, "supervisor", exclusive=True):
        pass


def test_on_duty_ends_after_an_exception_too(opened):
    store, record = opened
    with (
        pytest.raises(ZeroDivisionError),
        on_duty(store, record.id, "supervisor", exclusive=True),
    ):
        raise ZeroDivisionError
    with on_duty(store, record.id, "supervisor", exclusive=True):
        pass


def test_one_that_was_taken_for_dead_learns_of_it_and_can_register_anew(opened):
    store, record = opened
    worker = store.register(record.id, "session", exclusive=False)
    with Heartbeat(store, worker, every_s=0.02) as heartbeat:
        store.retire(worker)  # as an observer would, after a lease without a beat
        wait_until(lambda: heartbeat.lost is not None)
        assert isinstance(heartbeat.lost, OutOfDate)
        heartbeat.renew()
        assert heartbeat.worker.id != worker.id
        wait_until(lambda: beats(store)[-1] >= 2)
        assert heartbeat.lost is None


def test_the_lease_is_settable(monkeypatch):
    monkeypatch.delenv(LEASE_VARIABLE, raising=False)
    assert lease_s() == LEASE_S
    monkeypatch.setenv(LEASE_VARIABLE, "3")
    assert lease_s() == 3.0
    for wrong in ("soon", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(LEASE_VARIABLE, wrong)
        with pytest.raises(StoreError, match=f"TUNEWRIGHT_LEASE_S={wrong}"):
            lease_s()


def test_a_clock_that_jumps_while_one_registers_anew_retires_nobody_alive(tmp_path, monkeypatch):
    """The rival seems silent for hours by the wall clock; it beats while it is watched."""
    monkeypatch.setattr(database, "WAIT_S", 0.1)  # nobody may have to wait for a transaction here
    monkeypatch.setattr(heartbeat_module, "lease_s", lambda: LEASE_S)
    world = World()
    govern(monkeypatch, world)
    with Store.open(tmp_path / "tuning.db") as store, Store.open(tmp_path / "tuning.db") as other:
        asked = Round("r", goal="?", nuisance={"x": [1, 2]}, trials_per_study=1)
        record = store.begin(
            asked, minimize("valid_error"), Meaning(), search="none", suggestions=None
        )
        world.new_process(near=False)
        slept = Heartbeat(store, store.register(record.id, "supervisor", True), 1.0)
        old = slept.worker
        store.retire(old)  # others took it for dead
        world.new_process(near=False)
        rival = other.register(record.id, "supervisor", exclusive=True)
        world.acting = old.process
        world.while_asleep = lambda: other.beat(rival)
        with world.reading(7200.0), pytest.raises(Busy):
            slept.renew()
        assert slept.worker is old
        other.beat(rival)  # it still counts as alive
        other.retire(rival)
        slept.renew()
        assert slept.worker.id not in (old.id, rival.id)


def test_nobody_registers_alone_inside_a_transaction(opened):
    store, record = opened
    with pytest.raises(StoreError) as refused, store.transaction():
        store.register(record.id, "supervisor", exclusive=True)
    assert refused.value.code == "lease.register_in_transaction"
