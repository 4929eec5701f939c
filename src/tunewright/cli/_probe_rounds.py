"""A probe that trains, in the project: where it begins, its progress, and what if interrupted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import typer

from tunewright.cli._errors import INTERRUPTED, Misuse
from tunewright.cli._project import anchored, need_project
from tunewright.design.ranges import Value
from tunewright.design.toml_file import read_value
from tunewright.execution.executors.executor import Executor
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.present.terminal.screen import sidelines
from tunewright.progress.choose import on_screen
from tunewright.progress.watcher import Watcher
from tunewright.remedies import use
from tunewright.store.store import Store
from tunewright.store.trial import Trial

Found = TypeVar("Found")


def carried_out(
    ask: Callable[[Workload, Trial | None, Watcher], Found],
    round: str | None,
    number: int | None,
    store: str | None,
    executor: Executor,
) -> Found:
    """The answer of a probe; after an interrupt, the command that resumes it."""
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    known = begin_from(project.store(store), round, number)
    with project.entered():
        workload = project.workload(store, executor)
        try:
            return ask(workload, known, on_screen())
        except KeyboardInterrupt:
            sidelines().print(Message("probe.interrupted").text)
            raise typer.Exit(INTERRUPTED) from None


def begin_from(store: str, round: str | None, number: int | None) -> Trial | None:
    """The trial to begin from; None: the best that the store has."""
    if round is None:
        if number is not None:
            raise Misuse(
                "option.trial_without_round",
                trial=number,
                remedy=use("ROUND", "--trial", str(number)),
            )
        return None
    with Store.open(store, create=False) as opened:
        results = opened.results(round)
    return results.best() if number is None else results.trial(number)


def values(written: list[str] | None) -> dict[str, Value]:
    """Hyperparameters as they are written on the command line.

    >>> values(["learning_rate=0.01", "optimizer=adam", "nesterov=true"])
    {'learning_rate': 0.01, 'optimizer': 'adam', 'nesterov': True}
    """
    found: dict[str, Value] = {}
    for text in written or ():
        name, divider, value = text.partition("=")
        if not divider or not name.strip():
            raise Misuse(
                "option.not_name_value", text=text, remedy=use("--fixed", "learning_rate=0.01")
            )
        found[name.strip()] = read_value(value.strip())
    return found
