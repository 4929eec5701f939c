"""The file of a budget: `budget.toml` in the project's folder, or next to the store."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from tunewright.budgets.budget import Budget
from tunewright.design.workload_file import read_toml, toml_value, unknown_key
from tunewright.errors import DesignError
from tunewright.store.address import parse

FILE = "budget.toml"
PROJECT = "tunewright.toml"
HEAD = """\
# The most that training in this project may spend: trials, hours of training, or money.
# `tunewright budget show` prints what is left; `tunewright budget set` changes it.
"""


def place(store: str | os.PathLike[str] | None = None, folder: Path | None = None) -> Path | None:
    """Where the budget of a store or of a folder is: the nearest project's file, else the store's.

    None: neither a project nor a SQLite store has one.
    """
    for candidate in _candidates(store, folder):
        if candidate.is_file():
            return candidate
    return None


def _candidates(store: str | os.PathLike[str] | None, folder: Path | None) -> Iterator[Path]:
    if store is not None:
        path = parse(store).path if "://" in str(store) else Path(store).expanduser()
        if path is not None:
            yield path.absolute().parent / FILE
    here = (folder or Path.cwd()).absolute()
    for above in (here, *here.parents):
        if (above / PROJECT).is_file():
            yield above / FILE
            return


def read(path: str | os.PathLike[str]) -> Budget:
    """The budget that a file declares.

    Args:
        path: of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write(Budget(trials=20), folder)
    ...     read(written).trials
    20
    """
    data = read_toml(Path(path))
    known = [field.name for field in fields(Budget)]
    problems = [unknown_key(key, known, "budget") for key in data if key not in known]
    if problems:
        raise DesignError.several(problems)
    return Budget(**data)


def write(budget: Budget, folder: str | os.PathLike[str] = ".") -> Path:
    """Write the budget of a folder, in place of the one there; what was spent before stays spent.

    A first budget counts from now on, unless it has a `since`.

    Args:
        budget: the limits.
        folder: of the project, or of the store.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Budget(hours=2.5), folder).name
    'budget.toml'
    """
    path = Path(folder) / FILE
    if not budget.since:
        before = read(path).since if path.is_file() else time.time()
        budget = replace(budget, since=before)
    lines = [
        f"{name} = {toml_value(value)}\n"
        for name, value in budget.to_data().items()
        if value is not None and value != ""
    ]
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".budget-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(lines))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    return path
