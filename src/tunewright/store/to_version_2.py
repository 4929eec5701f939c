"""The migration from schema 1 to schema 2: documents become tables, sentences become messages.

What version 1 knew stays: its documents are read, their tables dropped, and the rows of version 2
written in their place. SQLite has a backup of the whole file beside it; on PostgreSQL the tables
and columns that are rewritten are copied to `v1_*` tables, which may be dropped later.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from sqlalchemy import Connection, MetaData, Table, select, text

from tunewright.errors import Damaged
from tunewright.store import journal, plain_json, reason, version_1
from tunewright.store.schema import (
    CONCLUSIONS,
    curve_summary,
    metadata,
    round_table,
    trial_summary,
)
from tunewright.store.version_1 import Conclusion

DOCUMENTS = ("finding", "probe", "launch", "baseline")
DROPPED = (*DOCUMENTS, "study", "clock")
SENTENCES = {"trial": "reason", "attempt": "cause"}  # columns that become messages
log = logging.getLogger(__name__)


def to_version_2(connection: Connection) -> None:
    """Turn the tables of version 1 into those of version 2."""
    old = _tables(connection)
    told = list(_conclusions(connection, old))
    if connection.dialect.name == "postgresql":
        _set_aside(connection)
    for name in DROPPED:
        connection.execute(text(f"DROP TABLE {name}"))
    # the same in version 3; a version that changes one of them takes a copy of these here
    made = [table for table in CONCLUSIONS.values() if table.name != "note"]
    metadata.create_all(connection, tables=[*made, trial_summary, curve_summary])
    _alter(connection)
    _encode_reasons(connection, old)
    journal.restore(connection, told, measured=False)  # the curves have their metrics
    version_1.adopt_rounds(connection)


def _tables(connection: Connection) -> dict[str, Table]:
    """The tables of version 1, as the database has them."""
    found = MetaData()
    found.reflect(connection, only=["round", "trial", "attempt", *DOCUMENTS])
    return dict(found.tables)


def _conclusions(connection: Connection, old: dict[str, Table]) -> Iterator[Conclusion]:
    """What the documents of version 1 say."""
    rounds = {row.id: row.directory for row in connection.execute(select(old["round"]))}
    chosen = select(old["trial"].c.id, old["trial"].c.folder)
    folders = {row.id: row.folder for row in connection.execute(chosen)}
    for name in DOCUMENTS:
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
    for name in (*DOCUMENTS, "study"):
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
            {"key": key, "made": reason.encode(reason.from_version_1(sentence))}
            for key, sentence in connection.execute(chosen).all()
        ]
        if rows:
            changed = text(f"UPDATE {name} SET {column} = :made WHERE id = :key")
            connection.execute(changed, rows)
