"""Transactions: nested ones join, failed ones leave nothing, durable ones are on the disk."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from tests.store.record_parts import a_round, begun, complete, curve

from tunewright.errors import StoreError
from tunewright.store.store import Store


def test_what_was_acknowledged_was_flushed_and_what_need_not_last_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    really = os.fdatasync

    def noted(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        really(descriptor)

    with Store.open(tmp_path / "tuning.db") as store:
        record, worker = begun(store)
        monkeypatch.setattr(os, "fdatasync", noted)
        a, b, c = store.claim(record.id, worker, 3)
        store.beat(worker)
        store.began(a, 0, "here")
        assert flushed == [], "a claim dies with the machine its owner runs on"
        store.log(a, [curve(0.5)])
        complete(store, a)
        assert flushed == ["tuning.db-wal"] * 2
        with store.transaction():
            complete(store, b)
            complete(store, c)
            assert len(flushed) == 2
        assert len(flushed) == 3, "one flush for all of a transaction"


def test_a_power_cut_at_any_byte_of_the_log_loses_only_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    sizes = []
    with Store.open(path) as store:
        record, worker = begun(store, a_round(trials_per_study=4))
        for claim in store.claim(record.id, worker, 8):
            complete(store, claim, 0.1 * (claim.number or 0))
            sizes.append(os.path.getsize(f"{path}-wal"))
        whole = Path(f"{path}-wal").read_bytes()
        for cut in [*range(0, len(whole), len(whole) // 23), *sizes]:
            copy = tmp_path / f"cut{cut}" / "tuning.db"
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(path, copy)
            Path(f"{copy}-wal").write_bytes(whole[:cut])
            with Store.open(copy) as after:
                there = sum(size <= cut for size in sizes)
                if there:
                    done = [t.status == "completed" for t in after.results("depth").trials]
                    assert done == [True] * there + [False] * (8 - there)


def test_a_write_inside_a_read_is_refused(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, _ = begun(store)
        with store._database.reading(), pytest.raises(StoreError, match="only reads"):
            store.ask_stop(record.id)


def test_readers_neither_wait_for_a_writer_nor_see_it_half_done(store_url: str) -> None:
    seen: list[dict] = []
    with Store.open(store_url) as store:
        record, worker = begun(store)
        claims = store.claim(record.id, worker, 2)
        with store.transaction():
            complete(store, claims[0])
            reader = threading.Thread(target=lambda: seen.append(store.round("depth").counts))
            reader.start()
            reader.join()
            complete(store, claims[1])
        assert seen == [{"running": 2, "pending": 4}]
        assert store.round("depth").counts == {"completed": 2, "pending": 4}
