"""Backups while the store is in use, and putting one back."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.store.record_parts import begin, begun, complete

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.store import backup
from tunewright.store.outcome import Outcome
from tunewright.store.store import LeaseWatch, Store


def test_a_round_that_begins_is_backed_up_and_three_backups_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        begin(store)
        first = backup.newest(path)
        assert first is not None
        begin(store)
        assert backup.backups(path) == [first], "continuing a round adds nothing to save"
        made = [store.back_up() for _ in range(4)]
        assert backup.backups(path) == made[-3:]
        assert [p.suffix for p in backup.folder_of(path).iterdir()] == [".db"] * 3


def test_one_is_due_every_ten_minutes(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        saved = store.back_up(if_due=True)
        assert saved is not None and store.back_up(if_due=True) is None
        old = time.time() - 601
        os.utime(saved, (old, old))
        assert store.back_up(if_due=True) is not None


def test_a_backup_in_the_middle_of_writing_holds_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        complete(store, a)
        with store.transaction():
            complete(store, b)
            saved = backup.make(path)
        complete(store, store.claim(record.id, worker, 1)[0])
    before = path.read_bytes()
    assert backup.restore(path, saved) == saved
    with Store.open(path) as store:
        assert store.round("depth").counts == {"completed": 1, "running": 1, "pending": 4}
    (replaced,) = [p for p in tmp_path.glob("tuning.db.replaced-*") if p.stat().st_size]
    assert replaced.read_bytes() == before, "what was there is kept beside it"


def test_a_backup_that_is_damaged_itself_is_not_put_back(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        begin(store)
    whole = path.read_bytes()
    saved = backup.newest(path)
    assert saved is not None
    saved.write_bytes(saved.read_bytes()[:5000])
    with pytest.raises(Damaged):
        backup.restore(path)
    assert path.read_bytes() == whole


def test_nothing_to_restore_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no backup"):
        backup.restore(tmp_path / "tuning.db")


def test_a_backup_that_would_fill_the_disk_is_not_made_and_stops_no_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backup, "RESERVE_MB", 10**12)  # no disk has so much
    with Store.open(tmp_path / "tuning.db") as store:
        with pytest.raises(StoreError, match="too few for a copy"):
            store.back_up()
        assert not begin(store).continued
    assert "no backup" in caplog.text and backup.backups(tmp_path / "tuning.db") == []


@pytest.mark.postgres
def test_postgresql_is_left_to_its_own_backups(new_postgres_url) -> None:
    with Store.open(new_postgres_url()) as store:
        assert store.back_up() is None


def test_a_missing_store_is_neither_made_nor_backed_up(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    for _ in range(2):
        with pytest.raises(StoreError, match="no backup of"):
            backup.make(path)
        assert not path.exists() and backup.backups(path) == []
        path.touch()
        with pytest.raises(StoreError):
            backup.make(path)
        path.unlink()


def test_the_newest_backup_is_the_last_one_though_the_clock_was_set_back(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    Store.open(path).close()
    future = [
        backup.make(path).rename(backup.folder_of(path) / f"2999010{day}T000000.000000Z.db")
        for day in (1, 2, 3)
    ]
    made = backup.make(path)
    assert backup.newest(path) == made and made.exists()
    assert backup.backups(path) == [*future[1:], made]


def test_a_restored_store_has_no_workers(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        record = begin(store)
        worker = store.register(record.id, "supervisor", exclusive=True)
        (claim,) = store.claim(record.id, worker, 1)
        backup.make(path)
        backup.restore(path)
        with pytest.raises(Damaged, match="was replaced by another file while it was in use"):
            store.end(claim, Outcome("completed"))
    with Store.open(path) as store:
        store.register(record.id, "supervisor", exclusive=True)
        (taken,) = store.reclaim(record.id, LeaseWatch())
        assert taken.trial == claim.trial
