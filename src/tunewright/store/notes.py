"""Notes people write about a round, wishes to stop, and what later stages conclude, as JSON.

Conclusions and notes are also left as files beside the trials, once they are committed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import delete, insert, select

from tunewright.errors import StoreError
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.journal import leave
from tunewright.store.schema import documents, note as note_table, stop as stop_table
from tunewright.store.storable import LONGEST_TEXT, storable

DocumentKind = Literal["probe", "finding", "launch", "baseline"]


@dataclass(frozen=True)
class Note:
    """What somebody wrote about a round."""

    text: str
    written: datetime


@dataclass(frozen=True)
class Document:
    """What a later stage concluded, as plain data."""

    id: int
    kind: DocumentKind
    round: int | None
    written: datetime
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Stops:
    """What whoever runs a round was asked to stop."""

    everything: bool = False  # the whole round
    numbers: frozenset[int] = frozenset()  # single trials


def add_note(database: Database, round_id: int, text: str) -> None:
    """Keep a note about a round."""
    if not text.strip():
        raise StoreError("the note is empty; nothing was written.")
    values = {"round": round_id, "written": time.time(), "text": storable(text, LONGEST_TEXT)}
    with database.writing() as connection:
        connection.execute(insert(note_table).values(values))
        database.afterwards(lambda: leave(database))


def notes_of(database: Database, round_id: int) -> list[Note]:
    """The notes of a round, oldest first."""
    chosen = select(note_table).where(note_table.c.round == round_id).order_by(note_table.c.id)
    with database.reading() as connection:
        return [Note(row.text, _when(row.written)) for row in connection.execute(chosen)]


def add_document(
    database: Database, kind: DocumentKind, round_id: int | None, payload: Mapping[str, Any]
) -> int:
    """Keep what a later stage concluded; its key."""
    values = {
        "round": round_id,
        "written": time.time(),
        "payload": plain_json.dumps(plain_json.finite(dict(payload))),
    }
    with database.writing() as connection:
        made = connection.execute(insert(documents[kind]).values(values))
        (key,) = made.inserted_primary_key or (0,)
        database.afterwards(lambda: leave(database))
    return int(key)


def documents_of(
    database: Database, kind: DocumentKind, round_id: int | None = None
) -> list[Document]:
    """What was concluded, oldest first: of one round, or of all."""
    table = documents[kind]
    chosen = select(table).order_by(table.c.id)
    if round_id is not None:
        chosen = chosen.where(table.c.round == round_id)
    with database.reading() as connection:
        rows = connection.execute(chosen).all()
    return [
        Document(
            row.id,
            kind,
            row.round,
            _when(row.written),
            plain_json.loads(row.payload, f"{kind} {row.id} of the store"),
        )
        for row in rows
    ]


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
