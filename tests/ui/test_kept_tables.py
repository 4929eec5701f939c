"""Columns that are kept: the same as those read anew, whatever has happened to the round."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.ui.small_world import NAME, Worker, a_round

import tunewright as tw
from tunewright.store import overview
from tunewright.store.overview import Overview, read_overview
from tunewright.store.store import Store
from tunewright.ui import columns, kept_tables
from tunewright.ui.kept_tables import KeptTables


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    del tmp_path
    Worker(store_url, a_round(trials=20)).close()
    with Store.open(store_url, create=False, read_only=True) as opened:
        yield opened


def same(one: Overview, other: Overview) -> None:
    for name in ("keys", "numbers", "studies", "statuses", "steps", "positions"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    for name in ("values", "seconds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.repeats == other.repeats and one.record.counts == other.record.counts


def now(kept: KeptTables, store: Store) -> Overview:
    return kept.overview(store, NAME, overview.states(store, overview.round_key(store, NAME)))


def test_rows_that_change_are_merged(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptTables()
    reads: list[object] = []

    def noted(store: Store, name: str, only: object = None) -> Overview:
        reads.append(only)
        return read_overview(store, name, only)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_tables, "read_overview", noted)
    same(now(kept, store), read_overview(store, NAME))
    worker = Worker(store_url, a_round(trials=20))
    for count in (1, 3, 0, 7):
        keys = worker.end(count) if count else []
        before = len(reads)
        same(now(kept, store), read_overview(store, NAME))
        assert reads[before:] == ([sorted(keys)] if keys else []), "only what changed is read"
    worker.close()
    states = overview.states(store, overview.round_key(store, NAME))
    assert kept.table(store, NAME, states) is kept.table(store, NAME, states)
    assert kept.table(store, NAME, states) == columns.table(read_overview(store, NAME))


def test_a_longer_round_and_more_than_fits_are_read_whole(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptTables()
    now(kept, store)
    worker = Worker(store_url, a_round(trials=26))  # continued with more trials
    same(now(kept, store), read_overview(store, NAME))
    monkeypatch.setattr(kept_tables, "AT_ONCE", 2)
    worker.end(5)
    worker.close()
    same(now(kept, store), read_overview(store, NAME))


def test_a_removed_round_and_one_of_the_same_name(tmp_path: Path) -> None:
    url = str(tmp_path / "tuning.db")
    first = Worker(url, a_round(trials=4))
    first.end(2)
    first.close()
    kept = KeptTables()
    with Store.open(url, create=False, read_only=True) as store:
        now(kept, store)
        tw.stores.remove(url, NAME)
        Worker(url, a_round(trials=5)).close()
        same(now(kept, store), read_overview(store, NAME))
        kept.forget()
        same(now(kept, store), read_overview(store, NAME))


def test_few_rounds_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(tmp_path / "tuning.db")
    monkeypatch.setattr(kept_tables, "MOST", 2)
    kept = KeptTables()
    for name in ("a", "b", "c"):
        Worker(url, a_round(name, trials=1)).close()
        with Store.open(url, create=False, read_only=True) as store:
            kept.overview(store, name, overview.states(store, overview.round_key(store, name)))
    assert list(kept._kept) == ["b", "c"]
