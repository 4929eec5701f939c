"""The tracking table on a screen: every round with its best trial and how to find it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.store.tracking import Tracked

LABEL = 12


def print_tracking(rows: Sequence[Tracked], console: Console, whole: bool = False) -> None:
    """Print one line per round, oldest first; `whole` adds how to find its best trial again."""
    if not rows:
        console.print(Text("no rounds yet. Next: tunewright new NAME"))
        return
    if not whole:
        console.print(_short(rows, console.width))
        return
    made = table("round", "trials", "best", "goal, and how to find it again")
    for row in rows:
        made.add_row(cell(row.name, "bold"), trials(row), best(row), details(row))
    console.print(made)


def _short(rows: Sequence[Tracked], width: int) -> Table:
    """A line per round; a goal is cut where the line would end."""
    columns = ("round", "trials", "best", "trial")
    lines = [(row.name, counted(row), *_reached(row)) for row in rows]
    taken = sum(max(map(len, column)) + 2 for column in zip(columns, *lines, strict=True))
    room = max(20, width - taken)
    made = table(*columns, "goal", right=columns[1:])
    for row, (name, *numbers) in zip(rows, lines, strict=True):
        goal = words.one_line(row.goal)
        cut = goal if len(goal) <= room else f"{goal[: room - 1]}…"
        made.add_row(cell(name, "bold"), *map(cell, numbers), cell(cut))
    return made


def _reached(row: Tracked) -> tuple[str, str]:
    """The best value and its trial."""
    return ("-", "-") if row.best is None else (words.number(row.best.value), str(row.best.number))


def counted(row: Tracked) -> str:
    """The trials that completed, of how many; all of them where nothing else happened."""
    completed = row.counts.get("completed", 0)
    return str(row.trials) if completed == row.trials else f"{completed} of {row.trials}"


def trials(row: Tracked) -> Text:
    """How many trials there are; those that are not completed by their status."""
    others = [f"{n} {status}" for status, n in row.counts.items() if status != "completed"]
    return Text("\n".join([str(row.trials), *others]))


def best(row: Tracked) -> Text:
    """The best value and the trial that reached it."""
    if row.best is None:
        return Text("-")
    return Text(f"{words.number(row.best.value)}\ntrial {row.best.number}")


def details(row: Tracked) -> Text:
    """The goal, and below it the note, the files and the command."""
    text = Text(words.printable(row.goal))
    for label, content in _labelled(row):
        text.append("\n")
        text.append(label.ljust(LABEL), style="dim")
        text.append(words.printable(content))
    return text


def _labelled(row: Tracked) -> Iterator[tuple[str, str]]:
    yield "objective", row.objective
    if row.note:
        yield "note", row.note
    if row.definition:
        yield "config", near(row.definition)
    if row.checkpoint:
        yield "checkpoint", near(row.checkpoint)
    if row.command:
        yield "again", row.command


def near(path: str) -> str:
    """A path as one would type it here."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
