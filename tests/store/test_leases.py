"""Leases: who is dead, by which evidence, and what becomes of its trials."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.store.record_parts import begin, begun, complete

from tunewright.errors import Busy, OutOfDate
from tunewright.store import leases
from tunewright.store.leases import LeaseWatch
from tunewright.store.schema import worker as worker_table
from tunewright.store.store import Store

OWNER = """
import sys
from tunewright.errors import OutOfDate
from tunewright.store.store import Store
store = Store.open(sys.argv[1])
record = store.round("depth")
worker = store.register(record.id, "supervisor", exclusive=True)
print(store.claim(record.id, worker, 2)[0].number, flush=True)
for line in sys.stdin:  # it beats when it is told to
    try:
        store.beat(worker)
        print("beaten", flush=True)
    except OutOfDate:
        print("refused", flush=True)
"""


class Owner:
    """Another process that owns two trials of the round."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-c", OWNER, url]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, bufsize=1, **pipes)
        self.pid = self._process.pid
        assert self._process.stdout is not None and self._process.stdin is not None
        self._out, self._in = self._process.stdout, self._process.stdin
        assert self._out.readline().strip() == "0"

    def beat(self) -> str:
        self._in.write("beat\n")
        self._in.flush()
        return self._out.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        self._in.close()
        self._out.close()


class Clock:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def looks(watch: LeaseWatch, clock: Clock, seconds: float, *beats: tuple[int, int, float]) -> set:
    """Look every 5 s for a while; what the last look found."""
    dead: set[int] = set()
    for _ in range(int(seconds / 5)):
        clock.now += 5
        dead = watch.dead_workers(beats)
    return dead


def test_a_beat_that_stands_still_for_the_lease_is_dead_and_one_that_grows_is_not() -> None:
    clock = Clock()
    watch = LeaseWatch(60, clock)
    assert watch.dead_workers([(1, 7, 0.0), (2, 7, 0.0)]) == set()
    for beat in range(8, 19):
        assert looks(watch, clock, 5, (1, 7, 0.0), (2, beat, 0.0)) == set()
    assert looks(watch, clock, 5, (1, 7, 0.0), (2, 19, 0.0)) == {1}


def test_a_shared_clock_shortens_the_watch_but_does_not_replace_it() -> None:
    clock = Clock()
    watch = LeaseWatch(60, clock)
    assert watch.dead_workers([(1, 7, 3600.0)]) == set(), "the server may only just be back"
    assert looks(watch, clock, 15, (1, 7, 3600.0)) == set()
    assert looks(watch, clock, 5, (1, 7, 3600.0)) == {1}


def test_an_observer_that_was_blind_begins_anew() -> None:
    clock = Clock()
    watch = LeaseWatch(60, clock)
    looks(watch, clock, 50, (1, 7, 0.0))
    clock.now += 3600  # the store was out of reach, or the machine asleep
    assert watch.dead_workers([(1, 7, 0.0)]) == set()
    assert looks(watch, clock, 55, (1, 7, 0.0)) == set()
    assert looks(watch, clock, 5, (1, 7, 0.0)) == {1}


@pytest.mark.beyond_core
def test_a_second_supervisor_is_refused_with_the_owner_named(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        with closing(Owner(store_url)) as other:
            with pytest.raises(Busy, match=f"pid {other.pid}.*tunewright worker"):
                store.register(record.id, "supervisor", exclusive=True)
            joined = store.register(record.id, "worker", exclusive=False)
            assert [c.number for c in store.claim(record.id, joined, 1)] == [2]
            assert store.reclaim(record.id, LeaseWatch()) == [], "a live owner keeps its trials"


@pytest.mark.beyond_core
def test_a_dead_process_is_dead_at_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        with closing(Owner(store_url)) as other:
            other.kill()
            worker = store.register(record.id, "supervisor", exclusive=True)
            taken = store.reclaim(record.id, LeaseWatch())
        assert [(one.number, one.attempt) for one in taken] == [(0, 1), (1, 1)]
        assert f"pid {other.pid}" in taken[0].owner
        claims = store.claim(record.id, worker, 2)
        assert [(c.number, c.attempt, c.attempts_died) for c in claims] == [(0, 2, 0), (1, 2, 0)]
        (lost, _) = store.attempts(claims[0].trial)
        assert lost.outcome == "lost" and lost.cause is not None
        assert lost.cause.code == "owner.lost" and "pid" in lost.cause.facts["owner"]


@pytest.mark.beyond_core
def test_a_silent_owner_loses_its_trials_and_its_writes_are_refused(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        with closing(Owner(store_url)) as other:
            clock = Clock()
            watch = LeaseWatch(60, clock)
            for _ in range(30):
                clock.now += 10
                assert other.beat() == "beaten"
                assert store.reclaim(record.id, watch) == []
            for _ in range(5):
                clock.now += 10
                assert store.reclaim(record.id, watch) == []
            clock.now += 10
            assert [one.number for one in store.reclaim(record.id, watch)] == [0, 1]
            assert other.beat() == "refused"
        assert store.round("depth").counts == {"pending": 6}


def test_a_worker_taken_for_dead_is_told_so(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        store.beat(worker)
        store.claim(record.id, worker, 1)
        store.retire(worker)
        assert [one.number for one in store.reclaim(record.id, LeaseWatch())] == [0]
        with pytest.raises(OutOfDate, match="taken for dead"):
            store.beat(worker)


@pytest.mark.beyond_core
def test_an_owner_that_only_the_wall_clock_calls_dead_is_watched_first(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        with closing(Owner(store_url)) as other:
            old = update(worker_table).values(beaten=worker_table.c.beaten - 7200)
            with store._database.writing() as connection:
                connection.execute(old)
            soon = threading.Timer(0.5, other.beat)
            soon.start()
            # it beats while it is watched, so it lives, whatever the clock says
            with pytest.raises(Busy, match=f"pid {other.pid}"):
                store.register(record.id, "supervisor", exclusive=True, lease_s=60.0)
            soon.join()


def test_an_owner_that_cannot_be_seen_from_here_is_taken_over_after_the_watch(
    store_url: str,
) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        gone = store.register(record.id, "supervisor", exclusive=True)
        store.claim(record.id, gone, 1)
        boot = f"{leases.this_boot().split()[0]} pid:[another container]"
        with store._database.writing() as connection:
            elsewhere = {"boot": boot, "pid": 4_000_000, "beaten": worker_table.c.beaten - 60}
            connection.execute(update(worker_table).values(elsewhere))
        with pytest.raises(Busy):
            store.register(record.id, "supervisor", exclusive=True, lease_s=3600)
        store.register(record.id, "supervisor", exclusive=True, lease_s=0.6)
        assert [one.number for one in store.reclaim(record.id, LeaseWatch(0.6))] == [0]


def test_who_wrote_a_local_file_before_a_reboot_is_dead(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        record = begin(store)
        worker = store.register(record.id, "supervisor", exclusive=True)
        store.claim(record.id, worker, 1)
        with store._database.writing() as connection:
            connection.execute(update(worker_table).values(boot="another-boot pid:[1]"))
        store.register(record.id, "supervisor", exclusive=True)
        assert [one.number for one in store.reclaim(record.id, LeaseWatch())] == [0]


def test_a_jump_of_the_wall_clock_expires_nobody(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        watch = LeaseWatch(60)
        for hours in (-1, 1):
            with store._database.writing() as connection:
                jumped = worker_table.c.beaten + hours * 3600
                connection.execute(update(worker_table).values(beaten=jumped))
            assert store.reclaim(record.id, watch) == []
        complete(store, claim)
        assert store.results("depth").trials[0].status == "completed"
