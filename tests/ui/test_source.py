"""The store of a dashboard is opened for reading, and again when its file is replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import exc, text
from tests.ui.small_world import NAME, Worker, a_round

from tunewright.errors import NotFound, StoreError
from tunewright.ui.source import Source


def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    store, copy = tmp_path / "tuning.db", tmp_path / "copy.db"
    worker = Worker(str(store), a_round(trials=2))
    worker.store.back_up()
    worker.close()
    shutil.copy(store, copy)
    source = Source(str(store))
    first = source.store
    assert source.store is first
    store.unlink()
    with pytest.raises(NotFound) as error:
        _ = source.store
    assert error.value.code == "store.not_found"
    shutil.rmtree(f"{store}.trials")
    copy.rename(store)
    assert source.store is not first and source.generation == 1
    assert source.store.round(NAME).name == NAME
    source.close()


def test_a_write_is_noticed(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    worker = Worker(str(store), a_round(trials=2))
    source = Source(str(store))
    for path in (store, Path(f"{store}-wal")):
        os.utime(path, (1_000, 1_000))
    before = source.stamp()
    assert before is not None and source.stamp() == before
    worker.end()
    assert source.stamp() != before
    source.close()
    worker.close()


def test_it_cannot_write(store_url: str) -> None:
    Worker(store_url, a_round(trials=2)).close()
    source = Source(store_url)
    with pytest.raises(StoreError):
        source.store.note(NAME, "x")
    for statement in ("DELETE FROM trial", "UPDATE round SET name = 'x'", "DROP TABLE trial"):
        with (
            pytest.raises((StoreError, exc.SQLAlchemyError)),
            source.store.reading() as connection,
        ):
            connection.execute(text(statement))
    assert source.store.round(NAME).counts == {"pending": 4}
    source.close()
