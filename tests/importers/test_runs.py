"""Runs of every source are read before they have a round, unfinished ones too."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tunewright.errors import NotFound, Unreadable
from tunewright.importers.runs import read_runs, source_of, table_runs


def test_json_lines_with_one_metric_to_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"step": k, "train/loss": 1 / k} for k in range(1, 4)]
    rows += [{"step": 3, "val/loss": 0.5}]
    path.write_text("\n".join(map(json.dumps, rows)) + '\n{"step": 4, "tra')
    (run,) = read_runs(path)
    assert run.points["train/loss"] == ([1, 2, 3], [1.0, 0.5, 1 / 3])
    assert run.points["val/loss"] == ([3], [0.5])


def test_a_long_table() -> None:
    columns = {
        "trial": ["a", "a", "b"],
        "step": ["1", "2", "1"],
        "metric": ["loss", "loss", "loss"],
        "value": ["3", "nan", "2"],
    }
    a, b = table_runs(columns, "file")
    assert a.name == "a" and a.points["loss"][0] == [1, 2]
    assert b.points["loss"] == ([1], [2.0])


def test_mlflow_runs_that_still_run(tmp_path: Path) -> None:
    root = tmp_path / "mlruns"
    run = root / "0" / "abc"
    (run / "metrics").mkdir(parents=True)
    (root / "0" / "meta.yaml").write_text("name: mnist\n")
    (run / "meta.yaml").write_text("run_name: first\nstatus: 1\nlifecycle_stage: active\n")
    (run / "metrics" / "val_loss").write_text("1 0.5 1\n2 0.4 2\n")
    assert source_of(root) == "mlflow"
    (found,) = read_runs(root)
    assert (found.name, found.state) == ("first", "running")
    assert found.points["val_loss"] == ([1, 2], [0.5, 0.4])


def test_trackio(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE metrics (id, timestamp, run_name, step, metrics)")
        database.execute("CREATE TABLE configs (id, run_name, config)")
        for step in (1, 2):
            row = (step, "2026-01-01", "r", step, json.dumps({"loss": 1 / step}))
            database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?)", row)
    assert source_of(path) == "trackio"
    (found,) = read_runs(path)
    assert found.points["loss"] == ([1, 2], [1.0, 0.5])


def test_a_folder_of_tables(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("step,loss\n1,2\n2,1\n")
    assert [run.name for run in read_runs(tmp_path)] == ["one", "two"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        read_runs(tmp_path)
    assert refused.value.code == "importers.no_runs"
    (tmp_path / "x.db").write_text("text")
    with pytest.raises(NotFound):
        read_runs(tmp_path / "x.db")
    (tmp_path / "bad.jsonl").write_text("{]\n{}\n")
    with pytest.raises(Unreadable):
        read_runs(tmp_path / "bad.jsonl")
