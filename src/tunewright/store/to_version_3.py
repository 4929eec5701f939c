"""The migration from schema 2 to schema 3: a round counts the positions that have rows."""

from __future__ import annotations

from sqlalchemy import Connection, text


def to_version_3(connection: Connection) -> None:
    """Add the count; every round of version 2 has a row for each of its trials, so it is empty."""
    connection.execute(text("ALTER TABLE round ADD COLUMN made INTEGER"))
