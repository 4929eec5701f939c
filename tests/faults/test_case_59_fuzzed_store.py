"""Case 59: 600 altered fields of a store that holds everything end in our errors or are read."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.fuzzed import VALUES, drive, field, json
from tests.faults.test_case_58_fuzzed_files import look_at
from tests.store.version_1_store import copied

import tunewright as tw
from tunewright.store.curves import pack
from tunewright.store.overview import tracking_table
from tunewright.store.store import Store

COUNT = 600


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The golden store under today's schema: one plain file."""
    store = copied(tmp_path_factory.mktemp("whole"))
    with Store.open(store) as opened:
        record = opened.rounds()[0]
        opened.note(record.name, "hello")
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    return store


def hostile(old: object, chance) -> object:
    """A value of another kind, or the old one with a field of it altered."""
    if isinstance(old, bytes) and chance.random() < 0.7:
        return chance.choice([pack({"": ([], [])}), old[: len(old) // 2], b"TWC2" + old[4:]])
    if isinstance(old, str) and old[:1] in ("{", "[") and chance.random() < 0.7:
        return json.dumps(field(json.loads(old), chance))
    flat = [value for value in VALUES if not isinstance(value, list | dict)]
    value = chance.choice(
        [*flat, b"\xff\x00", "[" * 5000, "{}", "null", '{"x": NaN}', float("inf")]
    )
    return value if not isinstance(value, int) or abs(value) < 2**63 else str(value)


def test_case_59(tmp_path, whole):
    with closing(sqlite3.connect(whole)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        tables = sorted(row[0] for row in connection.execute(query))
        filled = [
            (table, column[1])
            for table in tables
            if connection.execute(f'SELECT 1 FROM "{table}"').fetchone()
            for column in connection.execute(f'PRAGMA table_info("{table}")')
        ]
    store = tmp_path / "tuning.db"
    altered: set[tuple[str, str]] = set()

    def use(chance, number):
        for ending in ("-wal", "-shm"):
            Path(f"{store}{ending}").unlink(missing_ok=True)
        shutil.copy(whole, store)
        table, column = filled[number % len(filled)]
        with closing(sqlite3.connect(store)) as connection:
            rows = connection.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchall()
            key, old = chance.choice(rows)
            new = hostile(old, chance)
            where = "" if chance.random() < 0.3 else f" WHERE rowid = {key}"
            try:
                connection.execute(f'UPDATE "{table}" SET "{column}" = ?{where}', (new,))
                connection.commit()
                altered.add((table, column))
            except (sqlite3.Error, OverflowError, UnicodeError):
                return  # the database itself refuses it
        with Store.open(store) as opened:
            names = [record.name for record in opened.rounds()]
            look_at(opened)
            for name in chance.sample(names, min(2, len(names))):
                results = opened.results(name)
                for trial in results.trials[:2]:
                    opened.attempts(trial.identity)
                    opened.provenance(trial.identity)
                    opened.snapshots(trial.identity)
                    dict(trial.curves)
            if number % 10 == 0:
                tracking_table(opened)
            if number % 20 == 0:
                opened.faults()
                tw.check(results)

    ends = drive("store", use, COUNT)
    assert len(altered) > 0.7 * len(filled), "hardly a column is left out"
    assert ends["Damaged"] > 50 and ends["read"] > 50, ends
