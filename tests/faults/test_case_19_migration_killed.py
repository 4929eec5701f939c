"""Case 19: a migration of a version-1 store that is killed anywhere leaves it as it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event
from tests.store.version_1_store import GOLDEN, STORE, copied

from tunewright.store.address import parse
from tunewright.store.database import Database
from tunewright.store.open_store import open_store
from tunewright.store.store import Store

MOMENTS = ("backup", 0.02, 0.2, 0.4, 0.6, 0.8, 0.98, "commit")


def content(path: Path) -> list[str]:
    """All that a database holds, as SQL."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return list(connection.iterdump())


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def migrate(store: str, moment: str) -> None:
    """Open a store, killed at the n-th statement, before the commit or in the backup."""
    counted = []
    opened = Database.__init__

    def watched(self: Database, *arguments: object, **options: object) -> None:
        opened(self, *arguments, **options)  # type: ignore[arg-type]

        @event.listens_for(self.engine, "before_cursor_execute")
        def count(connection, cursor, statement, parameters, context, executemany):
            if not connection.get_execution_options().get("writes"):
                return
            counted.append(statement)
            if moment.isdecimal() and len(counted) == int(moment):
                die()

        @event.listens_for(self.engine, "commit")
        def over(connection):
            if moment == "commit" and connection.get_execution_options().get("writes"):
                die()

    Database.__init__ = watched  # type: ignore[method-assign]
    if moment == "backup":
        os.replace = die  # type: ignore[assignment]
    open_store(store, create=False).database.close()
    print(len(counted))


def run(store: Path, moment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, __file__, str(store), moment],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> int:
    done = run(copied(tmp_path_factory.mktemp("whole")), "never")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("moment", MOMENTS)
def test_case_19_killed_while_migrating(tmp_path, statements, moment):
    path = copied(tmp_path)
    when = str(max(1, round(moment * statements))) if isinstance(moment, float) else moment
    killed = run(path, when)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert content(path) == content(GOLDEN / STORE), "rolled back, every row"
    saved = path.with_name(f"{STORE}.version-1.backup")
    assert saved.exists() == (moment != "backup")
    with Store.open(path) as store:  # the next one migrates it
        assert len(store.launches()) == 4 and len(store.campaigns()) == 1
        assert parse(path).path == store.path
    assert content(saved) == content(GOLDEN / STORE)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


if __name__ == "__main__":
    migrate(sys.argv[1], sys.argv[2])
