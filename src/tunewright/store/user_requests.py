"""What users do to a recorded round: write a note, stop it, remove it, rename it.

Notes are also left as files beside the trials, once they are committed.

A removed round stays in the store under a name that no round can have, so nothing reads it and its
name is free. Its trial folders stay where they are, with a mark by which a rebuilt store leaves
them out. What others rest on is not removed: a round that another continues, one with a launch or
a baseline, a campaign's.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from tunewright.actions import RemoveRound
from tunewright.design.conditions import name_problem
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import Misuse, NotFound, StoreError
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.database import Database, when
from tunewright.store.journal import leave, leave_all_again
from tunewright.store.outcome import encode, read_message
from tunewright.store.plain_json import LONGEST_TEXT, storable
from tunewright.store.rounds import REMOVED, RoundRecord, every, find
from tunewright.store.schema import (
    baseline,
    launch,
    note as note_table,
    round_table,
    stop as stop_table,
    trial,
)
from tunewright.store.spool import REMOVED_FILE, write_checked, write_round

_DIVIDER = REMOVED[0]

# how the names of a round's replicates continue, in `launches.replicate`
_OF_A_ROUND = r"\.(study\d+|trial\d+\.split\d+)"


@dataclass(frozen=True)
class Note:
    """What somebody wrote about a round, or what we note ourselves, as a message."""

    text: str | Message
    written: datetime


@dataclass(frozen=True)
class Stops:
    """What whoever runs a round was asked to stop."""

    everything: bool = False  # the whole round
    numbers: frozenset[int] = frozenset()  # single trials


def add_note(database: Database, round_id: int, text: str | Message) -> None:
    """Keep a note about a round."""
    if isinstance(text, str) and not text.strip():
        raise StoreError("note.empty")
    values = {"round": round_id, "written": time.time(), "text": as_column(text)}
    with database.writing() as connection:
        connection.execute(insert(note_table).values(values))
        database.afterwards(lambda: leave(database))


def notes_of(database: Database, round_id: int) -> list[Note]:
    """The notes of a round, oldest first."""
    chosen = select(note_table).where(note_table.c.round == round_id).order_by(note_table.c.id)
    with database.reading() as connection, plain_json.as_written("a note of the store"):
        return [
            Note(_from_column(row.text), when(row.written)) for row in connection.execute(chosen)
        ]


def as_column(note: str | Message) -> str:
    """A note as its column holds it: a message as JSON, with its code and facts."""
    return encode(note) if isinstance(note, Message) else storable(note, LONGEST_TEXT)


def _from_column(text: str) -> str | Message:
    """The note of a column; what is not the JSON of a known message is the user's own text.

    >>> _from_column('{"code": "imported.pruned", "facts": {"count": 2}}').facts
    {'count': 2}
    >>> _from_column('{"code": "see line 3"}')
    '{"code": "see line 3"}'
    """
    return read_message(text) or text


def ask_stop(database: Database, round_id: int, number: int | None) -> None:
    """Ask whoever runs a round to stop one trial, or all of it (None)."""
    with database.writing() as connection:
        connection.execute(insert(stop_table).values(round=round_id, number=number))


def stops(database: Database, round_id: int) -> Stops:
    """Which trials of a round are to be stopped."""
    with database.reading() as connection:
        requests = select(stop_table.c.number).where(stop_table.c.round == round_id)
        numbers = set(connection.execute(requests).scalars())
    return Stops(None in numbers, frozenset(number for number in numbers if number is not None))


def clear_stops(database: Database, round_id: int, number: int | None) -> None:
    """Forget an honoured stop request: that for one trial, or (None) every one of the round."""
    requests = delete(stop_table).where(stop_table.c.round == round_id)
    if number is not None:
        requests = requests.where(stop_table.c.number == number)
    with database.writing() as connection:
        connection.execute(requests)


@dataclass(frozen=True)
class Removed:
    """A round that was removed and can be brought back."""

    name: str  # what it was called
    removed: datetime
    trials: int
    folder: str  # of its trials, which stays; empty: there is none, or it is not known
    key: int


@dataclass(frozen=True)
class Renamed:
    """A round under its new name."""

    old: str
    new: str
    also: tuple[str, ...] = ()  # replicates that were renamed with it, by their new names
    continued_by: tuple[str, ...] = ()  # rounds that continue it, which now name the new one


def remove(database: Database, record: RoundRecord) -> Removed:
    """Take a round out of the store's lists; refused where something rests on it."""
    problems = list(_rests_on(database, record))
    if problems:
        first = problems[0].facts.get("rounds")
        remedy = RemoveRound(first[0]) if first else None
        raise Misuse.several(problems, remedy)
    now = time.time()
    hidden = f"{REMOVED}{now:.6f}{_DIVIDER}{record.name}"
    with database.writing() as connection:
        this_round = update(round_table).where(round_table.c.id == record.id)
        connection.execute(this_round.values(name=hidden))
    # after the commit: between the two a rebuilt store has the round again, and nothing is lost
    root = database.root_of(record.folder)
    if root is not None and (root / record.directory).is_dir():
        write_checked(root / record.directory / REMOVED_FILE, {"name": record.name, "when": now})
    return next(each for each in list_removed(database) if each.key == record.id)


def list_removed(database: Database) -> list[Removed]:
    """Every removed round, the newest first."""
    counted = (
        select(func.count())
        .where(trial.c.round == round_table.c.id, trial.c.number.is_not(None))
        .scalar_subquery()
    )
    chosen = select(round_table).add_columns(counted.label("trials"))
    with database.reading() as connection:
        rows = connection.execute(chosen.where(round_table.c.name.startswith(REMOVED))).all()
    rounds = []
    for row in rows:
        moment, _, name = row.name.removeprefix(REMOVED).partition(_DIVIDER)
        at = when(float(moment))
        root = database.root_of(row.folder)
        place = None if root is None else root / row.directory
        folder = "" if place is None or not place.is_dir() else str(place)
        rounds.append(Removed(name, at, row.trials + _waiting(row), folder, row.id))
    return sorted(rounds, key=lambda each: each.removed, reverse=True)


def _waiting(row: Any) -> int:
    """How many declared trials of a round have no row yet."""
    if row.made is None:
        return 0
    where = "a removed round"
    with plain_json.as_written(where):
        round = from_data(plain_json.loads(row.definition, where))
    return (round.trials_per_study - int(row.made)) * len(round.studies)


def bring_back(database: Database, name: str) -> Removed:
    """Undo the newest removal of a round of this name; refused where the name is in use."""
    known = list_removed(database)
    newest = next((each for each in known if each.name == name), None)
    if newest is None:
        names = sorted({each.name for each in known})
        raise NotFound("removed.not_found", name=name, known=names)
    with database.writing() as connection:
        database.alone(connection)
        _refuse_taken(connection, name)
        if newest.folder:
            Path(newest.folder, REMOVED_FILE).unlink(missing_ok=True)
        this_round = update(round_table).where(round_table.c.id == newest.key)
        connection.execute(this_round.values(name=name))
    return newest


def rename(database: Database, record: RoundRecord, new: str) -> Renamed:
    """Give a round another name, in the rounds that continue it and in its replicates too."""
    if problem := name_problem(new):
        raise Misuse("round.bad_name", problem=problem.to_data())
    if record.campaign:
        raise Misuse("rename.in_campaign", round=record.name, campaign=record.campaign)
    others = [each for each in every(database) if each.id != record.id]
    own_replicates = [each for each in others if is_replicate(each.name, record.name)]
    changes = {record.name: new}
    changes |= {each.name: new + each.name.removeprefix(record.name) for each in own_replicates}
    later = [each for each in others if each.round.continues in changes]
    with database.writing() as connection:
        database.alone(connection)
        for name in changes.values():
            _refuse_taken(connection, name)
        for each in {r.id: r for r in (record, *own_replicates, *later)}.values():
            now = replace(
                each.round,
                name=changes.get(each.name, each.name),
                continues=changes.get(each.round.continues, each.round.continues),
            )
            values = {"name": now.name, "definition": plain_json.dumps(as_data(now))}
            connection.execute(
                update(round_table).where(round_table.c.id == each.id).values(values)
            )
        database.afterwards(lambda: leave_all_again(database))
    for each in (record, *own_replicates, *later):
        now_named = find(database, changes.get(each.name, each.name))
        folder = database.root_of(each.folder)
        if folder is not None and (folder / each.directory).is_dir():
            write_round(folder / each.directory, now_named)
    return Renamed(
        record.name,
        new,
        tuple(changes[each.name] for each in own_replicates),
        tuple(changes.get(each.name, each.name) for each in later),
    )


def is_replicate(name: str, of: str) -> bool:
    """Whether a round is another's search again, or its best trial on another split of the data.

    >>> is_replicate("depth.study2", "depth"), is_replicate("depth_2", "depth")
    (True, False)
    """
    return re.fullmatch(re.escape(of) + _OF_A_ROUND, name) is not None


def _rests_on(database: Database, record: RoundRecord) -> Iterator[Message]:
    """Why a round cannot be removed."""
    others = every(database)
    later = [each.name for each in others if each.round.continues == record.name]
    if later:
        yield Message("remove.continued", {"round": record.name, "rounds": later})
    again = [each.name for each in others if is_replicate(each.name, record.name)]
    if again:
        yield Message("remove.has_replicates", {"round": record.name, "rounds": again})
    if record.campaign:
        yield Message("remove.in_campaign", {"round": record.name, "campaign": record.campaign})
    with database.reading() as connection:
        launches = _launches(connection, record.id)
    if launches:
        yield Message("remove.launched", {"round": record.name, "launches": launches})


def _launches(connection: Connection, key: int) -> int:
    """How many launches and baselines are about trials of a round."""
    trials = select(trial.c.id).where(trial.c.round == key)
    about = or_(
        launch.c.round == key, launch.c.candidate.in_(trials), launch.c.baseline.in_(trials)
    )
    launches = select(func.count()).select_from(launch).where(about)
    baselines = select(func.count()).select_from(baseline).where(baseline.c.trial.in_(trials))
    return sum(int(connection.execute(count).scalar_one()) for count in (launches, baselines))


def _refuse_taken(connection: Connection, name: str) -> None:
    taken = select(round_table.c.id).where(round_table.c.name == name)
    if connection.execute(taken).first() is not None:
        raise Misuse("rename.name_taken", name=name)
