"""The tracking table on a screen: every round with its best trial and how to find it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.store.campaigns import PROBE
from tunewright.store.tracking import Tracked

LABEL = 12
_GAP = 2  # between columns
_NARROWEST = 12  # of the goal


def print_tracking(rows: Sequence[Tracked], console: Console, details: bool = False) -> None:
    """Print one line per round, oldest first, then the rounds of probes; or all that is known."""
    if not rows:
        console.print(Text("no rounds yet. Next: tunewright new NAME"))
        return
    probes = [row for row in rows if row.purpose == PROBE]
    designed = [row for row in rows if row.purpose != PROBE]
    for title, some in (("round", designed), ("probe", probes)):
        if some:
            console.print(_detailed(some, title) if details else _brief(some, title, console.width))


def _brief(rows: Sequence[Tracked], title: str, width: int) -> RenderableType:
    """One line a round; only the goal gives way where the screen is narrow."""
    names = (title, "trials", "best", "trial", "objective", "goal")
    lines = [(cell(row.name, "bold"), *_line(row)) for row in rows]
    wide = [
        max(len(name), *(cell_len(line[place].plain) for line in lines))
        for place, name in enumerate(names[:-1])
    ]
    made = table(*names, right=("best", "trial"))
    for line in lines:
        line[-1].truncate(
            max(_NARROWEST, width - sum(wide) - _GAP * len(wide)), overflow="ellipsis"
        )
        made.add_row(*line)
    return made


def _line(row: Tracked) -> tuple[Text, ...]:
    value, number = ("-", "-") if row.best is None else (row.best.value, row.best.number)
    shown = words.number(value) if isinstance(value, float) else value
    goal = cell(words.one_line(str(row.goal)))
    return (_in_line(row), cell(shown), cell(number), cell(row.objective), goal)


def _in_line(row: Tracked) -> Text:
    """How many trials there are, and those that are not completed, on one line."""
    others = [f"{n} {status}" for status, n in row.counts.items() if status != "completed"]
    return Text(f"{row.trials} ({', '.join(others)})" if others else str(row.trials))


def _detailed(rows: Sequence[Tracked], title: str) -> RenderableType:
    made = table(title, "trials", "best", "goal, and how to find it again")
    for row in rows:
        made.add_row(cell(row.name, "bold"), trials(row), best(row), details(row))
    return made


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
    text = Text(words.printable(row.asks))
    for label, content in _labelled(row):
        text.append("\n")
        text.append(label.ljust(LABEL), style="dim")
        text.append(words.printable(content))
    return text


def _labelled(row: Tracked) -> Iterator[tuple[str, str]]:
    yield "objective", row.objective
    if row.note:
        yield "note", str(row.note)
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
