"""A PostgreSQL server that goes away and comes back: refused for a while, nothing lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.store.record_parts import begun, complete, curve

from tunewright.errors import OutOfDate, StoreError
from tunewright.store.leases import LeaseWatch
from tunewright.store.store import Store

pytestmark = pytest.mark.postgres


def test_a_restart_is_an_error_that_passes(
    postgres_server: Any, new_postgres_url: Callable[[], str], tmp_path: Path
) -> None:
    with Store.open(new_postgres_url()) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        watch = LeaseWatch(60)
        assert store.reclaim(record.id, watch) == []
        complete(store, a)
        postgres_server.stop()
        try:
            for use in (
                lambda: store.log(b, [curve(0.5)], first=0),
                lambda: store.beat(worker),
                lambda: store.claim(record.id, worker, 1),
                lambda: store.results("depth"),
            ):
                with pytest.raises(StoreError, match="could not be used") as refused:
                    use()
                assert type(refused.value) is StoreError, "it may pass, so it is no final one"
        finally:
            postgres_server.start()
        store.log(b, [curve(0.5)], first=0)
        store.beat(worker)
        assert store.reclaim(record.id, watch) == [], "nobody is taken for dead meanwhile"
        complete(store, b)
        assert store.round("depth").counts == {"completed": 2, "pending": 4}


def test_a_connection_cut_in_mid_write_leaves_nothing_and_the_next_write_succeeds(
    postgres_server: Any, new_postgres_url: Callable[[], str]
) -> None:
    with Store.open(new_postgres_url()) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        with pytest.raises(StoreError) as refused, store.transaction():
            store.log(claim, [curve(0.9)], first=0)
            postgres_server.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'tunewright'"
            )
            store.log(claim, [curve(0.8, first=2)], first=1)
        assert not isinstance(refused.value, OutOfDate)
        assert store.batches(claim) == []
        store.log(claim, [curve(0.9), curve(0.8, first=2)], first=0)
        assert len(store.batches(claim)) == 2


def test_owners_of_another_machine_are_judged_by_the_servers_clock(
    new_postgres_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(new_postgres_url()) as store:
        record, worker = begun(store)
        store.claim(record.id, worker, 1)
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + 3600)  # this host's clock is wrong
        store.beat(worker)
        changed = store._database
        with changed.reading() as connection:
            beaten = connection.exec_driver_sql("SELECT beaten FROM worker").scalar_one()
        assert abs(beaten - now()) < 600
