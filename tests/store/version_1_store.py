"""The golden store of version 1: a copy to migrate, on SQLite or a server, and what it says."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import MetaData, create_engine, event, insert, select, text

from tunewright.store.address import parse

GOLDEN = Path(__file__).parents[1] / "golden" / "version_1"
STORE = "tuning.sqlite"


def copied(folder: Path) -> Path:
    """A copy of the golden project; its store."""
    left_out = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(GOLDEN, folder / "project", ignore=left_out)) / STORE


def on_server(url: str) -> None:
    """The same tables and rows on a PostgreSQL server."""
    source = create_engine(f"sqlite:///{GOLDEN / STORE}")
    target = create_engine(parse(url).url)
    tables = MetaData()

    @event.listens_for(tables, "column_reflect")
    def generic(inspector: Any, table: Any, column: Any) -> None:
        column["type"] = column["type"].as_generic(allow_nulltype=True)

    with source.connect() as old, target.begin() as new:
        tables.reflect(old)
        for table in tables.sorted_tables:
            table.indexes.clear()
        tables.create_all(new)
        new.execute(text("CREATE INDEX ix_curve_revision ON curve (revision)"))
        for table in tables.sorted_tables:
            rows = [dict(row) for row in old.execute(select(table)).mappings()]
            if rows:
                new.execute(insert(table), rows)
            if "id" in table.columns:
                sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
                newest = f"(SELECT max(id) FROM {table.name})"
                new.execute(text(f"SELECT setval({sequence}, {newest})"))
    source.dispose()
    target.dispose()


def documents(store: Path, table: str) -> list[tuple[float, dict[str, Any]]]:
    """When each document of version 1 was written, and what it says."""
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute(f"SELECT written, payload FROM {table} ORDER BY id").fetchall()
    return [(written, json.loads(payload)) for written, payload in rows]


def findings(store: Path, kind: str) -> list[tuple[float, dict[str, Any]]]:
    """The documents of one kind in the table that held three."""
    return [(when, told) for when, told in documents(store, "finding") if told["kind"] == kind]


def column(store: Path, query: str) -> list[Any]:
    """The first column of a query."""
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        return [row[0] for row in connection.execute(query)]
