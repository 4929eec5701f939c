"""The schema's versions: a new database gets the newest, an older one is brought up to it.

Each migration is one function and one transaction, numbered by the version it leads to; a backup is
made before the first. A database of a newer version is refused: this program cannot know what it
would break.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, update

from tunewright.actions import FirstRun
from tunewright.errors import NotFound, StoreError
from tunewright.store.database import Database
from tunewright.store.schema import SCHEMA_VERSION, about, clock, metadata

Migration = Callable[[Connection], None]
MIGRATIONS: Mapping[int, Migration] = {}  # version -> how the one before becomes it


def version_of(database: Database) -> int | None:
    """The schema version of a database; None if it holds no tables at all."""
    with database.reading() as connection:
        tables = inspect(connection).get_table_names()
        if not tables:
            return None
        found = None
        if "about" in tables:
            key = select(about.c.value).where(about.c.key == "schema")
            found = connection.execute(key).scalar()
    if found is None or not found.isdecimal():
        raise StoreError(
            f"{database.address.shown} is a database of another program: it has the tables "
            f"{', '.join(sorted(tables)[:6])}. Give the store a name of its own."
        )
    return int(found)


def identity_of(database: Database) -> str:
    """The mark by which the folder of trials knows its store."""
    with database.reading() as connection:
        key = select(about.c.value).where(about.c.key == "identity")
        return str(connection.execute(key).scalar_one())


def create(database: Database, identity: str | None = None) -> None:
    """Make the tables, unless another process was quicker."""
    with database.writing() as connection:
        database.alone(connection)
        if inspect(connection).get_table_names():
            return
        metadata.create_all(connection)
        connection.execute(
            insert(about),
            [
                {"key": "schema", "value": str(SCHEMA_VERSION)},
                {"key": "identity", "value": identity or uuid.uuid4().hex},
            ],
        )
        connection.execute(insert(clock).values(id=1, revision=0))


def migrate(
    database: Database,
    backup: Callable[[], object],
    migrations: Mapping[int, Migration] = MIGRATIONS,
    newest: int = SCHEMA_VERSION,
) -> None:
    """Bring the tables up to the newest version, one transaction per step, after a backup."""
    version = version_of(database)
    if version is None:
        raise NotFound(
            f"{database.address.shown} holds no rounds yet.",
            code="store.empty",
            remedy=FirstRun(),
        )
    if version > newest:
        raise StoreError(
            f"{database.address.shown} was written by a newer Tunewright (schema {version}, this "
            f"one knows {newest}): pip install --upgrade tunewright"
        )
    if version == newest:
        return
    backup()
    for step in range(version + 1, newest + 1):
        with database.writing() as connection:
            database.alone(connection)
            key = about.c.key == "schema"
            if connection.execute(select(about.c.value).where(key)).scalar_one() != str(step - 1):
                continue  # another process did it meanwhile
            migrations[step](connection)
            connection.execute(update(about).where(key).values(value=str(step)))
