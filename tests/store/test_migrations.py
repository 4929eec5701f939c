"""Older schemas are brought up to date, each step in one transaction, after a backup."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, inspect, text
from tests.store.record_parts import begin

from tunewright.errors import StoreError
from tunewright.store import migrations
from tunewright.store.schema import SCHEMA_VERSION
from tunewright.store.store import Store


def add_colour(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE round ADD COLUMN colour TEXT"))


def fail_late(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE round ADD COLUMN size TEXT"))
    raise ZeroDivisionError


def columns(store: Store) -> set[str]:
    with store._database.reading() as connection:
        return {column["name"] for column in inspect(connection).get_columns("round")}


def test_each_step_is_applied_once_after_one_backup(store_url: str) -> None:
    newest = SCHEMA_VERSION + 1
    backups: list[int] = []
    with Store.open(store_url) as store:
        begin(store)
        for _ in range(2):
            migrations.migrate(store._database, backups.append, {newest: add_colour}, newest)
        assert migrations.version_of(store._database) == newest
        assert "colour" in columns(store) and backups == [SCHEMA_VERSION]
        assert store.round("depth").counts == {"pending": 6}


def test_a_step_that_fails_changes_nothing(store_url: str) -> None:
    one, two = SCHEMA_VERSION + 1, SCHEMA_VERSION + 2
    with Store.open(store_url) as store:
        with pytest.raises(ZeroDivisionError):
            migrations.migrate(
                store._database, lambda version: None, {one: add_colour, two: fail_late}, two
            )
        assert migrations.version_of(store._database) == one
        assert "colour" in columns(store) and "size" not in columns(store)


def test_every_older_version_has_its_migration() -> None:
    assert set(migrations.MIGRATIONS) == set(range(2, SCHEMA_VERSION + 1))


def test_an_older_program_refuses_what_a_newer_one_made(store_url: str) -> None:
    with Store.open(store_url) as store, pytest.raises(StoreError, match="newer Tunewright"):
        migrations.migrate(store._database, lambda version: None, {}, SCHEMA_VERSION - 1)


def test_a_store_of_a_newer_version_is_refused_and_left_alone(store_url: str) -> None:
    newer = SCHEMA_VERSION + 1
    with Store.open(store_url) as store, store._database.writing() as connection:
        connection.execute(text(f"UPDATE about SET value = '{newer}' WHERE key = 'schema'"))
    for read_only in (False, True):
        with pytest.raises(StoreError) as refused:
            Store.open(store_url, read_only=read_only)
        assert refused.value.code == "store.newer_schema"
