"""The trials of a report: best first, one column per hyperparameter, no empty column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tunewright.messages import Message, Text, words
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MOST = 300  # rows; an export has all of them
Kind = Literal["trial", "value", "best_step", "setting", "time", "status", "again"]


@dataclass(frozen=True)
class Column:
    """One column: what it holds, and the hyperparameter or metric it is named after."""

    kind: Kind
    name: str = ""
    number: bool = False  # aligned at the right

    @property
    def heading(self) -> str:
        """Its heading: a name of the round, or a word."""
        return self.name or Message(f"trials.{self.kind}").text


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and what a table sorts by."""

    text: str
    key: str = ""


@dataclass(frozen=True)
class Row:
    """One trial as a reader sees it, a cell for each column."""

    number: int | str | None
    status: str
    cells: tuple[Cell, ...]
    trial: int | None = None  # its number among these results


@dataclass(frozen=True)
class TrialRows:
    """The columns, the rows shown, and how many trials there are."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trials: int

    @property
    def left_out(self) -> int:
        """How many trials are not shown."""
        return self.trials - len(self.rows)


def trial_rows(results: Results, most: int = MOST) -> TrialRows:
    """The best trials, then infeasible, failed, pruned, running and pending ones."""
    order = {"infeasible": 1, "failed": 2, "pruned": 3, "running": 4, "pending": 5}
    rest = [t for t in results.trials if t.value is None]
    rest.sort(key=lambda t: (order.get(t.status, 6), t.number or 0))
    ranked = [*results.top(len(results.trials)), *rest]
    shown = ranked[:most]
    columns = tuple(_columns(results, shown))
    rows = tuple(_row(trial, columns) for trial in shown)
    return TrialRows(columns, rows, len(ranked))


def _columns(results: Results, trials: list[Trial]) -> Iterator[Column]:
    """Only what differs or is known: no column is empty."""
    yield Column("trial", number=True)
    yield Column("value", results.objective.metric, number=True)
    if any(trial.best_step is not None for trial in trials):
        yield Column("best_step", number=True)
    hidden = without_fixed(results.round)
    for name in results.round.names:
        values = [t.configuration[name] for t in trials if name in t.configuration]
        if name not in hidden and values:
            numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            yield Column("setting", name, number=numbers)
    if any(trial.seconds for trial in trials):
        yield Column("time", number=True)
    if any(trial.status != "completed" for trial in trials):
        yield Column("status")
    if any(trial.command for trial in trials):
        yield Column("again")


def _row(trial: Trial, columns: tuple[Column, ...]) -> Row:
    cells = tuple(_cell(trial, column) for column in columns)
    return Row(trial.shown_number, trial.status, cells, trial.number)


def _cell(trial: Trial, column: Column) -> Cell:
    if column.kind == "trial":
        return Cell(str(trial.shown_number), _key(trial.number))
    if column.kind == "value":
        return Cell("" if trial.value is None else words.number(trial.value), _key(trial.value))
    if column.kind == "best_step":
        return Cell("" if trial.best_step is None else str(trial.best_step), _key(trial.best_step))
    if column.kind == "setting":
        known = column.name in trial.configuration
        value = trial.configuration.get(column.name)
        return Cell(words.value(value) if known else "", _key(value) if known else "")
    if column.kind == "time":
        text: str = words.duration(trial.seconds) if trial.seconds else ""
        return Cell(text, _key(trial.seconds))
    if column.kind == "status":
        facts = {"status": _status_word(trial.status), "reason": trial.reason}
        return Cell(Message("trials.ended", facts).text, trial.status)
    return Cell(trial.command)


def _status_word(status: str) -> Text:
    """A status in the reader's language."""
    return Message(f"status.{status}").text


def _key(value: Any) -> str:
    """What a table sorts by: every digit of a number, the text of anything else."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, int | float) else str(value)
