"""What is not what was written is found: curves, fields of rows, and trial folders that differ."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.record_parts import begun, curve

from tunewright.errors import Damaged
from tunewright.store import backup, spool
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two completed trials and a repeat of the first, and their folders."""
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        root = store.trial_root()
        record, worker = begun(store)
        claims = list(store.claim(record.id, worker, 2))
        for claim in claims:
            store.end(claim, outcome := Outcome("completed", batches=(curve(0.5, 0.4),)))
            spool.write_trial(root / claim.folder, claim)
            spool.write_result(root / claim.folder, Ended(claim.trial, 1, outcome))
        store.add_repeats(record.id, 0, 1)
        (repeat,) = store.claim_repeats(record.id, worker, 0, 1)
        store.end(repeat, Outcome("completed", batches=[curve(0.6)]))
    return path


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement, values).rowcount == 1
        connection.commit()


def places(path: Path, folders: bool = False) -> list[str]:
    with Store.open(path, read_only=True) as store:
        return [fault.where for fault in store.faults(folders=folders)]


def folder_of(path: Path, number: int) -> Path:
    with Store.open(path, read_only=True) as store:
        return store.trial_root() / store.results("depth").trial(number).folder


def test_a_whole_store_has_no_fault(path: Path) -> None:
    assert places(path) == places(path, folders=True) == []


@pytest.mark.parametrize("altered", ["byte", "text"])
def test_a_damaged_curve_is_found_with_its_trial(path: Path, altered: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        kept = connection.execute("SELECT points FROM curve ORDER BY id").fetchall()
    data = bytearray(kept[1][0])
    data[-1] ^= 1
    points = bytes(data) if altered == "byte" else "no bytes at all"
    change(path, "UPDATE curve SET points = ? WHERE id = 2", points)
    assert places(path) == ["trial 1 of depth"]
    with pytest.raises(Damaged):
        backup.make(path)


def test_a_damaged_curve_of_a_repeat_is_found(path: Path) -> None:
    change(path, "UPDATE curve SET points = x'54574332' WHERE id = 3")
    assert places(path) == ["a repeat of trial 0 of depth"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("status", "complete"),
        ("seed", "seven"),
        ("seconds", "nine"),
        ("configuration", '{"layers": 1'),
        ("seconds", float("inf")),
    ],
)
def test_a_field_that_this_program_cannot_have_written_is_found(
    path: Path, column: str, value: object
) -> None:
    change(path, f"UPDATE trial SET {column} = ? WHERE number = 1", value)
    assert places(path) == ["trial 1 of depth"]


def test_a_row_that_differs_from_its_folder_is_found_where_folders_are_compared(
    path: Path,
) -> None:
    change(path, "UPDATE trial SET configuration = '{\"layers\": 9}' WHERE number = 0")
    change(path, "UPDATE trial SET seed = seed + 1 WHERE number = 1")
    assert places(path) == []
    assert places(path, folders=True) == ["trial 0 of depth", "trial 1 of depth"]


def test_a_status_that_differs_from_the_result_file_is_found(path: Path) -> None:
    change(path, "UPDATE trial SET status = 'failed' WHERE number = 1")
    assert places(path, folders=True) == ["trial 1 of depth"]


def test_what_another_attempt_or_store_left_is_no_fault(path: Path) -> None:
    change(path, "UPDATE trial SET status = 'pending' WHERE number = 1")  # another attempt is due
    own = folder_of(path, 0)
    foreign = replace(spool.read_trial(own / "trial.json"), trial=99, seed=1)
    spool.write_trial(own, foreign)  # of a store that was rebuilt since
    assert places(path, folders=True) == []


def test_files_that_are_gone_or_torn_say_nothing_about_the_row(path: Path) -> None:
    (folder_of(path, 0) / "trial.json").unlink()
    result = folder_of(path, 1) / "result.1.json"
    result.write_text(result.read_text()[:-5])
    assert places(path, folders=True) == []
