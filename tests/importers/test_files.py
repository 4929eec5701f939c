"""Foreign files have limits, are opened read-only, and end in one kind of error."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tunewright import importers
from tunewright.design.objective import minimize
from tunewright.errors import NotFound, Unreadable
from tunewright.importers import files
from tunewright.importers.files import csv_columns, read_only_database, reading, table_columns

LOSS = minimize("loss")


@pytest.mark.parametrize(
    "cause", [KeyError("x"), TypeError(""), sqlite3.Error("torn"), MemoryError()]
)
def test_whatever_a_file_raises_names_the_file_and_what_it_should_be(cause: Exception) -> None:
    with pytest.raises(Unreadable) as refused, reading("a.db", "a database of Optuna"):
        raise cause
    assert (
        refused.value.facts.items()
        >= {
            "path": "a.db",
            "expected": "a database of Optuna",
            "cause": type(cause).__name__,
        }.items()
    )
    with pytest.raises(NotFound), reading("a.db", "a database of Optuna"):
        raise NotFound("error.text", text="our own errors pass")


def test_a_table_of_60_000_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{n}" for n in range(60_000)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    with pytest.raises(Unreadable) as refused:
        csv_columns(path)
    assert refused.value.facts["columns"] == 60_000
    rows = tmp_path / "wide.json"
    rows.write_text(json.dumps([{f"c{n}": n} for n in range(files.MOST_COLUMNS + 1)]))
    with pytest.raises(Unreadable) as refused:
        table_columns(rows)
    assert refused.value.facts["columns"] == files.MOST_COLUMNS + 1


def test_the_most_columns_that_are_taken_are_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = ["loss", *(f"c{n}" for n in range(files.MOST_COLUMNS - 1))]
    lines = [",".join(str(row + place % 3) for place in range(len(names))) for row in range(4)]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    found = importers.tables(path, objective=LOSS)
    assert len(found.round.nuisance) == files.MOST_COLUMNS - 1


def test_parquet_is_measured_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "many.parquet"
    polars.select(polars.repeat(1, files.MOST_CELLS + 1).alias("x")).write_parquet(path)
    with pytest.raises(Unreadable) as refused:
        table_columns(path)
    assert refused.value.facts["rows"] == files.MOST_CELLS + 1
    long = tmp_path / "long.parquet"
    polars.select(polars.repeat("x" * 1000, 1000).alias("x")).write_parquet(long)
    assert len(table_columns(long)["x"]) == 1000
    monkeypatch.setattr(files, "LARGEST", 1000)
    with pytest.raises(Unreadable, match="bytes of text"):
        table_columns(long)


def test_a_database_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE t (x)")
        database.commit()
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with read_only_database(path) as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError):
            database.execute("INSERT INTO t VALUES (1)")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("seconds", ["nan", "inf", "-5", "1e400", "x"])
def test_a_duration_that_is_none_is_unknown(tmp_path: Path, seconds: str) -> None:
    path = tmp_path / "export.csv"
    path.write_text(f"Name,State,Runtime,lr,loss\na,finished,{seconds},1,2\nb,finished,3,2,1\n")
    found = importers.wandb(path, objective=LOSS)
    assert [trial.seconds for trial in found.trials] == [0.0, 3.0]
