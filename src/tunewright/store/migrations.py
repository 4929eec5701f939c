"""The schema's versions: a new database gets the newest, an older one is migrated when opened.

Each migration is one function and one transaction, numbered by the version it leads to; killed
anywhere, it leaves the older version as it was. A backup is made first, and nothing is migrated
while a process of an older version still runs trials. A database of a newer version is refused:
this program cannot know what it would break.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, text, update

from tunewright.errors import Busy, NotFound, StoreError
from tunewright.remedies import FirstRun
from tunewright.store.database import Database
from tunewright.store.leases import LEASE_S, gone_for_sure
from tunewright.store.schema import SCHEMA_VERSION, about, metadata, worker
from tunewright.store.to_version_2 import to_version_2
from tunewright.store.to_version_3 import to_version_3

Migration = Callable[[Connection], None]
# version -> how the one before becomes it
MIGRATIONS: Mapping[int, Migration] = {2: to_version_2, 3: to_version_3}
_SERVER_TIME = text("SELECT extract(epoch from clock_timestamp())")
log = logging.getLogger(__name__)


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
            "store.other_program",
            shown=database.address.shown,
            tables=", ".join(sorted(tables)[:6]),
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


def migrate(
    database: Database,
    backup: Callable[[int], object],
    migrations: Mapping[int, Migration] = MIGRATIONS,
    newest: int = SCHEMA_VERSION,
    *,
    copy: bool = False,
) -> None:
    """Migrate to the newest version, one transaction per step, after a backup of the old one.

    A `copy` is nobody's: whoever works on the store does not keep it from being migrated.
    """
    version = version_of(database)
    if version is None:
        raise NotFound("store.empty", shown=database.address.shown, remedy=FirstRun())
    refuse_newer(database, version, newest)
    if version == newest:
        return
    if not copy:
        _refuse_running(database, version)
    kept = backup(version)
    for step in range(version + 1, newest + 1):
        with database.writing() as connection:
            database.alone(connection)
            key = about.c.key == "schema"
            if connection.execute(select(about.c.value).where(key)).scalar_one() != str(step - 1):
                continue  # another process did it meanwhile
            migrations[step](connection)
            connection.execute(update(about).where(key).values(value=str(step)))
    if copy:
        return
    before = kept or f"its v{version}_* tables hold what was rewritten"
    log.warning(
        "%s: migrated from schema %d to %d (as it was: %s)",
        database.address.shown,
        version,
        newest,
        before,
    )


def refuse_newer(database: Database, version: int, newest: int = SCHEMA_VERSION) -> None:
    """Refuse a store that a newer program has written."""
    if version > newest:
        raise StoreError(
            "store.newer_schema", shown=database.address.shown, version=version, newest=newest
        )


def _refuse_running(database: Database, version: int) -> None:
    """Refuse to migrate under processes of an older version, which would not know the tables."""
    with database.reading() as connection:
        now = time.time()
        if not database.sqlite:
            now = float(connection.execute(_SERVER_TIME).scalar_one())
        alive = select(worker).where(worker.c.retired.is_(None))
        rows = connection.execute(alive).all()
    for row in rows:
        if abs(now - row.beaten) <= LEASE_S and not gone_for_sure(database, row):
            raise Busy(
                "store.older_worker",
                shown=database.address.shown,
                version=version,
                kind=row.kind,
                host=row.host,
                pid=row.pid,
            )
