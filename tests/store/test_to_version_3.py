"""A store of schema 2 is migrated when opened; its rounds have all their rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import tunewright as tw
from tunewright.store import migrations
from tunewright.store.schema import SCHEMA_VERSION
from tunewright.store.store import Store

ROUND = tw.Round(
    "old", goal="?", nuisance={"learning_rate": tw.log(1e-4, 1e-1)}, trials_per_study=3
)


def test_a_store_of_version_2_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with tw.open_round(ROUND, tw.minimize("valid_error"), path) as session:
        session.ask().finish()
    with sqlite3.connect(path) as connection:  # as version 2 had it
        connection.execute("ALTER TABLE round DROP COLUMN made")
        connection.execute("UPDATE about SET value = '2' WHERE key = 'schema'")
    connection.close()
    with Store.open(path) as store:
        assert migrations.version_of(store._database) == SCHEMA_VERSION
        record = store.round("old")
        assert record.made is None and record.counts == {"failed": 1, "pending": 2}
    with tw.open_round(ROUND, tw.minimize("valid_error"), path) as session:
        assert session.ask().number == 1
