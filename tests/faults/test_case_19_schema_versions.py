"""Case 19: an older schema is migrated at once, after a backup; a newer one is refused."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import inspect, text
from tests.faults.quick_rounds import REPETITIONS, asked, check, workload

import tunewright as tw
from tunewright.errors import StoreError
from tunewright.execution.run import supervise
from tunewright.store import backup, migrations
from tunewright.store.address import parse
from tunewright.store.database import Database
from tunewright.store.schema import SCHEMA_VERSION

NEXT = SCHEMA_VERSION + 1


def widen(connection) -> None:
    """What the next version might do."""
    connection.execute(text("ALTER TABLE note ADD COLUMN author TEXT"))
    connection.execute(text("CREATE TABLE artifact (id INTEGER PRIMARY KEY)"))
    connection.execute(text("UPDATE note SET author = 'unknown'"))


def widen_and_die(connection) -> None:
    widen(connection)
    os.kill(os.getpid(), signal.SIGKILL)


def migrate(store: str, how) -> None:
    database = Database(parse(store))
    try:
        migrations.migrate(
            database, lambda old: backup.before_migration(database, old), {NEXT: how}, newest=NEXT
        )
    finally:
        database.close()


def version(store: str) -> int | None:
    database = Database(parse(store))
    try:
        return migrations.version_of(database)
    finally:
        database.close()


def has_artifacts(store: str) -> bool:
    database = Database(parse(store))
    try:
        with database.reading() as connection:
            return "artifact" in inspect(connection).get_table_names()
    finally:
        database.close()


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_19(store_url, tmp_path, repetition):
    journal = tmp_path / "journal"
    round, work = asked(journal, 4), workload(store_url, tmp_path / "trials")
    supervise(round, work, trials=2)

    path = os.pathsep.join(sys.path)
    killed = subprocess.run(
        [sys.executable, __file__, store_url],
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL
    assert version(store_url) == SCHEMA_VERSION and not has_artifacts(store_url), "none of it"
    check(tw.run(round, work), journal, 4)

    migrate(store_url, widen)
    assert version(store_url) == NEXT and has_artifacts(store_url)
    saved = tmp_path / f"tuning.db.version-{SCHEMA_VERSION}.backup"
    if store_url == str(tmp_path / "tuning.db"):  # PostgreSQL has its own
        with closing(sqlite3.connect(saved)) as copy:
            (kept,) = copy.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()
            (ended,) = copy.execute(
                "SELECT count(*) FROM trial WHERE status = 'completed'"
            ).fetchone()
        assert (int(kept), ended) == (SCHEMA_VERSION, 4), "as it was before"

    for use in (lambda: tw.load(store_url, round.name), lambda: tw.run(round, work)):
        with pytest.raises(StoreError, match=r"newer Tunewright.*pip install --upgrade"):
            use()
    assert version(store_url) == NEXT and has_artifacts(store_url), "refused, and left alone"


if __name__ == "__main__":
    migrate(sys.argv[1], widen_and_die)
