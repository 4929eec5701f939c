"""Notes that users write about a round, and requests to stop its trials.

Notes are also left as files beside the trials, once they are committed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select

from tunewright.errors import StoreError
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.journal import leave
from tunewright.store.reason import encode, stored_message
from tunewright.store.schema import note as note_table, stop as stop_table
from tunewright.store.storable import LONGEST_TEXT, storable


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
            Note(from_column(row.text), _when(row.written)) for row in connection.execute(chosen)
        ]


def as_column(note: str | Message) -> str:
    """A note as its column holds it: a message as JSON, with its code and facts."""
    return encode(note) if isinstance(note, Message) else storable(note, LONGEST_TEXT)


def from_column(text: str) -> str | Message:
    """The note of a column; what is not the JSON of a known message is the user's own text.

    >>> from_column('{"code": "imported.pruned", "facts": {"count": 2}}').facts
    {'count': 2}
    >>> from_column('{"code": "see line 3"}')
    '{"code": "see line 3"}'
    """
    return stored_message(text) or text


def ask_stop(database: Database, round_id: int, number: int | None) -> None:
    """Ask whoever runs a round to stop one trial, or all of it (None)."""
    with database.writing() as connection:
        connection.execute(insert(stop_table).values(round=round_id, number=number))


def stops(database: Database, round_id: int) -> Stops:
    """Which trials of a round are to be stopped."""
    with database.reading() as connection:
        wishes = select(stop_table.c.number).where(stop_table.c.round == round_id)
        asked = set(connection.execute(wishes).scalars())
    return Stops(None in asked, frozenset(number for number in asked if number is not None))


def clear_stops(database: Database, round_id: int, number: int | None) -> None:
    """Forget a wish that was honoured: that for one trial, or (None) every one of the round."""
    wish = delete(stop_table).where(stop_table.c.round == round_id)
    if number is not None:
        wish = wish.where(stop_table.c.number == number)
    with database.writing() as connection:
        connection.execute(wish)


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
