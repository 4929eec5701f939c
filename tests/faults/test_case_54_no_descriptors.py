"""Case 54: a process without file descriptors waits for some; no trial dies of it."""

from __future__ import annotations

import errno
import os

import pytest
from tests.faults.quick_rounds import OBJECTIVE, asked, workload

import tunewright as tw
from tunewright.errors import StoreError
from tunewright.execution.executors import pool_thread
from tunewright.store.store import Store

TIMES = 5  # more than the three deaths that fail a trial


def test_case_54_a_log_that_cannot_be_opened_is_an_error_of_the_store(tmp_path, monkeypatch):
    store = tmp_path / "tuning.db"
    with tw.open_round(asked("-", 1), OBJECTIVE, store):
        pass
    opened = os.open

    def scarce(path, *more, **named):
        if str(path).endswith("-wal"):
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(path, *more, **named)

    with Store.open(store, create=False) as own:
        monkeypatch.setattr(os, "open", scarce)
        with pytest.raises(StoreError):
            own.note("quick", "hello")
        monkeypatch.undo()


@pytest.mark.parametrize("cause", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_case_54_a_worker_that_cannot_be_started_is_no_death(tmp_path, monkeypatch, cause):
    tried: list[int] = []
    worker = pool_thread.WorkerProcess

    def scarce(*given):
        tried.append(1)
        if len(tried) <= TIMES:
            raise OSError(cause, os.strerror(cause))
        return worker(*given)

    monkeypatch.setattr(pool_thread, "WorkerProcess", scarce)
    monkeypatch.setattr("tunewright.execution.supervisor.SCARCE_S", 0.1)
    work = workload(tmp_path / "tuning.db", executor=tw.Local(workers=1))
    results = tw.run(asked(tmp_path / "journal", 1), work)
    assert results.counts == {"completed": 1}
    assert results.trial(0).attempts == TIMES + 1
