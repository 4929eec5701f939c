"""The schema's versions: a new database gets the newest, an older one is migrated when opened.

Each migration is one function and one transaction, numbered by the version it leads to; killed
anywhere, it leaves the older version as it was. A backup is made first, and nothing is migrated
while a process of an older version still runs trials. A database of a newer version is refused:
this program cannot know what it would break.

What version 1 knew stays: its documents are read, their tables dropped, and the rows of version 2
written in their place. SQLite has a backup of the whole file beside it; on PostgreSQL the tables
and columns that are rewritten are copied to `v1_*` tables, which may be dropped later.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import Connection, MetaData, Table, insert, inspect, select, text, update

from tunewright.errors import Busy, Damaged, NotFound, StoreError
from tunewright.remedies import FirstRun
from tunewright.store import journal, outcome, plain_json, version_1
from tunewright.store.database import Database
from tunewright.store.leases import LEASE_S, gone_for_sure
from tunewright.store.schema import (
    CONCLUSIONS,
    SCHEMA_VERSION,
    about,
    curve_summary,
    metadata,
    round_table,
    trial_summary,
    worker,
)
from tunewright.store.version_1 import Conclusion

_DOCUMENTS = ("finding", "probe", "launch", "baseline")
_DROPPED = (*_DOCUMENTS, "study", "clock")
SENTENCES = {"trial": "reason", "attempt": "cause"}  # columns that become messages
log = logging.getLogger(__name__)
Migration = Callable[[Connection], None]
_SERVER_TIME = text("SELECT extract(epoch from clock_timestamp())")


def _to_version_2(connection: Connection) -> None:
    """Turn the tables of version 1 into those of version 2."""
    old = _tables(connection)
    conclusions = list(_conclusions(connection, old))
    if connection.dialect.name == "postgresql":
        _set_aside(connection)
    for name in _DROPPED:
        connection.execute(text(f"DROP TABLE {name}"))
    # the same in version 3; a version that changes one of them takes a copy of these here
    tables = [table for table in CONCLUSIONS.values() if table.name != "note"]
    metadata.create_all(connection, tables=[*tables, trial_summary, curve_summary])
    _alter(connection)
    _encode_reasons(connection, old)
    journal.restore(connection, conclusions, measured=False)  # the curves have their metrics
    version_1.adopt_rounds(connection)


def _tables(connection: Connection) -> dict[str, Table]:
    """The tables of version 1, as the database has them."""
    tables = MetaData()
    tables.reflect(connection, only=["round", "trial", "attempt", *_DOCUMENTS])
    return dict(tables.tables)


def _conclusions(connection: Connection, old: dict[str, Table]) -> Iterator[Conclusion]:
    """What the documents of version 1 say."""
    rounds = {row.id: row.directory for row in connection.execute(select(old["round"]))}
    chosen = select(old["trial"].c.id, old["trial"].c.folder)
    folders = {row.id: row.folder for row in connection.execute(chosen)}
    for name in _DOCUMENTS:
        for row in connection.execute(select(old[name]).order_by(old[name].c.id)):
            payload = plain_json.loads(row.payload, f"{name} {row.id} of the store")
            about = {"folder": rounds[row.round]} if row.round in rounds else None
            folder = folders.get(payload.get("trial", 0)) if name == "finding" else None
            place = None if folder is None else {"folder": folder}
            try:
                yield version_1.document(name, row.id, row.written, payload, about, place)
            except (KeyError, TypeError, ValueError, AttributeError, Damaged) as error:
                log.warning("%s %d of schema 1 is left out: %s", name, row.id, error)


def _set_aside(connection: Connection) -> None:
    """Keep what is rewritten: a server has no backup of ours."""
    for name in (*_DOCUMENTS, "study"):
        connection.execute(text(f"CREATE TABLE v1_{name} AS SELECT * FROM {name}"))
    for name, column in SENTENCES.items():
        kept = f"SELECT id, {column} FROM {name} WHERE {column} <> ''"
        connection.execute(text(f"CREATE TABLE v1_{name} AS {kept}"))


def _alter(connection: Connection) -> None:
    """Give rounds their campaign, and drop the columns that nobody reads."""
    key = round_table.c.campaign.type.compile(connection.dialect)
    for change in (
        f"ALTER TABLE round ADD COLUMN campaign {key} REFERENCES campaign (id)",
        "ALTER TABLE round ADD COLUMN purpose TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX ix_round_campaign ON round (campaign)",
        "DROP INDEX ix_curve_revision",
        *(f"ALTER TABLE {name} DROP COLUMN revision" for name in ("trial", "attempt", "curve")),
    ):
        connection.execute(text(change))


def _encode_reasons(connection: Connection, old: dict[str, Table]) -> None:
    """Sentences become messages, by the trial or attempt that they are about."""
    for name, column in SENTENCES.items():
        table = old[name]
        chosen = select(table.c.id, table.c[column]).where(table.c[column] != "")
        rows = [
            {"key": key, "made": outcome.encode(outcome.from_version_1(sentence))}
            for key, sentence in connection.execute(chosen).all()
        ]
        if rows:
            changed = text(f"UPDATE {name} SET {column} = :made WHERE id = :key")
            connection.execute(changed, rows)


def _to_version_3(connection: Connection) -> None:
    """Add the count; every round of version 2 has a row for each of its trials, so it is empty."""
    connection.execute(text("ALTER TABLE round ADD COLUMN made INTEGER"))


# version -> how the one before becomes it
MIGRATIONS: Mapping[int, Migration] = {2: _to_version_2, 3: _to_version_3}


def version_of(database: Database) -> int | None:
    """The schema version of a database; None if it holds no tables at all."""
    with database.reading() as connection:
        tables = inspect(connection).get_table_names()
        if not tables:
            return None
        version = None
        if "about" in tables:
            key = select(about.c.value).where(about.c.key == "schema")
            version = connection.execute(key).scalar()
    if version is None or not version.isdecimal():
        raise StoreError(
            "store.other_program",
            shown=database.address.masked,
            tables=", ".join(sorted(tables)[:6]),
        )
    return int(version)


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
        raise NotFound("store.empty", shown=database.address.masked, remedy=FirstRun())
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
        database.address.masked,
        version,
        newest,
        before,
    )


def refuse_newer(database: Database, version: int, newest: int = SCHEMA_VERSION) -> None:
    """Refuse a store that a newer program has written."""
    if version > newest:
        raise StoreError(
            "store.newer_schema", shown=database.address.masked, version=version, newest=newest
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
                shown=database.address.masked,
                version=version,
                kind=row.kind,
                host=row.host,
                pid=row.pid,
            )
