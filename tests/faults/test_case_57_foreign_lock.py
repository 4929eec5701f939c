"""Case 57: a lock that another program holds on the store's queue delays a write by seconds."""

from __future__ import annotations

import fcntl
import logging
import os

import pytest
from tests.faults.quick_rounds import OBJECTIVE, asked

import tunewright as tw
from tunewright.store import database
from tunewright.store.store import Store


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "tuning.db"
    with tw.open_round(asked("-", 2), OBJECTIVE, path):
        pass
    return path


@pytest.fixture
def held(store):
    descriptor = os.open(f"{store}.lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def test_case_57(store, held, monkeypatch, caplog):
    assert database.QUEUE_S <= 5.0, "within seconds"
    monkeypatch.setattr(database, "QUEUE_S", 0.1)
    waits: list[float] = []
    wait = database._Wait.over

    def counted(self, patience_s):
        waits.append(patience_s)
        return wait(self, patience_s)

    monkeypatch.setattr(database._Wait, "over", counted)
    with caplog.at_level(logging.WARNING), Store.open(store, create=False) as own:
        for _ in range(5):
            own.note("quick", "hello")
    assert waits == [0.1], "waited for once, then written without"
    assert not caplog.records, "many workers of one round can cause one such wait"


def test_case_57_is_reported_once_from_the_second_wait_on(store, held, monkeypatch, caplog):
    monkeypatch.setattr(database, "QUEUE_S", 0.1)
    monkeypatch.setattr(database, "AGAIN_S", 0.0)
    with caplog.at_level(logging.WARNING), Store.open(store, create=False) as own:
        own.note("quick", "hello")
        assert not caplog.records
        for _ in range(3):
            own.note("quick", "hello")
    (said,) = [r.args[0] for r in caplog.records if r.name == "tunewright.store.database"]
    assert said.code in ("store.lock_held", "store.lock_held_by")
    assert said.facts["path"] == f"{store}.lock"
    assert said.facts["holders"] in ([], [os.getpid()])


def test_case_57_only_its_user_can_lock_it(store):
    lock = store.with_name("tuning.db.lock")
    assert lock.stat().st_mode & 0o777 == 0o600
    lock.chmod(0o644)  # as an older version made it
    with Store.open(store, create=False):
        assert lock.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_case_57_another_user_cannot_open_it(store):
    child = os.fork()
    if not child:
        try:
            os.setuid(4001)
            os.open(f"{store}.lock", os.O_RDONLY)
        except PermissionError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
