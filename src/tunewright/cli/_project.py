"""The project and the store that a command works on, from where it is called."""

from __future__ import annotations

from pathlib import Path

from tunewright.execution.run import load
from tunewright.project._project import (
    DEFAULT_STORE as DEFAULT_STORE,
    FILE as FILE,
    ROUNDS as ROUNDS,
    Project as Project,
    anchored as anchored,
    find as find_project,
    load as need_project,
    plain_name as plain_name,
    store_address as store_address,
)
from tunewright.store.results import Results
from tunewright.store.store import Store

__all__ = ["find_project", "need_project"]


def open_store(instead: str | None) -> Store:
    """The store to read; it must be there already."""
    return Store.open(store_address(instead), create=False)


def read_round(round: str, store: str | None, *, earlier: bool = True) -> Results:
    """The round's results; with those trials of the rounds it continues that fit it."""
    return load(store_address(store), round, earlier=earlier)


def from_here(store: str | None) -> str | None:
    """A store named on the command line, which is relative to the working folder."""
    return None if store is None else anchored(store, Path.cwd())
