"""MLflow's file store and database, written as its documented formats have them."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tunewright import importers
from tunewright.design.objective import minimize
from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.messages import Message
from tunewright.store.judge import not_finite
from tunewright.store.results import Results

LOSS = minimize("val/loss")
RUNS = [  # parameters, status, points of val/loss
    ({"lr": "0.001", "optimizer": "adam", "layers": "2"}, "FINISHED", [0.9, 0.6]),
    ({"lr": "0.01", "optimizer": "sgd", "layers": "2"}, "FINISHED", [0.8, 0.4]),
    ({"lr": "1.0", "optimizer": "sgd", "layers": "2"}, "FAILED", [0.8, float("nan")]),
    ({"lr": "0.1", "optimizer": "adam", "layers": "2"}, "KILLED", [0.7]),
    ({"lr": "0.2", "optimizer": "adam", "layers": "2"}, "RUNNING", [0.7]),
]
NUMBERS = {"RUNNING": 1, "FINISHED": 3, "FAILED": 4, "KILLED": 5}


def folder_store(root: Path) -> Path:
    experiment = root / "mlruns" / "123456"
    experiment.mkdir(parents=True)
    (experiment / "meta.yaml").write_text(
        "artifact_location: file:///elsewhere/mlruns/123456\ncreation_time: 1700000000000\n"
        "experiment_id: '123456'\nlast_update_time: 1700000000000\nlifecycle_stage: active\n"
        "name: sweep\n"
    )
    empty = root / "mlruns" / "0"
    empty.mkdir()
    (empty / "meta.yaml").write_text("experiment_id: '0'\nlifecycle_stage: active\nname: Default\n")
    for place, (parameters, status, losses) in enumerate(RUNS):
        run = experiment / f"{place:032x}"
        for part in ("params", "metrics/val", "tags", "artifacts"):
            (run / part).mkdir(parents=True)
        (run / "meta.yaml").write_text(
            f"artifact_uri: file:///elsewhere\nend_time: {1700000005000 + place}\n"
            f"entry_point_name: ''\nexperiment_id: '123456'\nlifecycle_stage: active\n"
            f"run_id: {place:032x}\nrun_name: calm-lake-{place}\nsource_type: 4\n"
            f"start_time: {1700000000000 + place}\nstatus: {NUMBERS[status]}\ntags: []\n"
        )
        for name, value in parameters.items():
            (run / "params" / name).write_text(value)
        lines = [f"170000000{n}000 {loss} {10 * n}" for n, loss in enumerate(losses, start=1)]
        (run / "metrics" / "val" / "loss").write_text("\n".join(lines) + "\n")
    deleted = experiment / "deleted"
    deleted.mkdir()
    (deleted / "meta.yaml").write_text("lifecycle_stage: deleted\nstatus: 3\n")
    return root / "mlruns"


def database_store(root: Path) -> Path:
    path = root / "mlflow.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256),
                artifact_location VARCHAR(256), lifecycle_stage VARCHAR(32));
            CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250),
                status VARCHAR(9), start_time BIGINT, end_time BIGINT,
                lifecycle_stage VARCHAR(20), experiment_id INTEGER);
            CREATE TABLE params ("key" VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32));
            CREATE TABLE metrics ("key" VARCHAR(250), value FLOAT, "timestamp" BIGINT,
                run_uuid VARCHAR(32), step BIGINT DEFAULT 0, is_nan BOOLEAN DEFAULT 0);
            INSERT INTO experiments VALUES (0, 'Default', '', 'active'), (1, 'sweep', '', 'active');
            INSERT INTO runs VALUES ('x', 'gone', 'FINISHED', 1, 2, 'deleted', 1);
            """
        )
        for place, (parameters, status, losses) in enumerate(RUNS):
            key = f"{place:032x}"
            start = 1700000000000 + place
            row = (key, f"calm-lake-{place}", status, start, start + 5000, "active", 1)
            database.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for name, value in parameters.items():
                database.execute("INSERT INTO params VALUES (?, ?, ?)", (name, value, key))
            for n, loss in enumerate(losses, start=1):
                point = ("val/loss", 0.0 if loss != loss else loss, n, key, 10 * n, loss != loss)
                database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", point)
    return path


def check_alike(found: Results) -> None:
    assert found.round.name == "sweep"
    assert found.round.goal == Message("goal.imported", {"origin": "the MLflow experiment 'sweep'"})
    assert found.round.fixed == {"layers": 2} and set(found.round.nuisance) == {"lr", "optimizer"}
    assert [t.status for t in found.trials] == ["completed", "completed", "infeasible", "failed"]
    assert found.trial(2).reason == not_finite("val/loss", math.nan, 20)
    kept = {"source": "MLflow", "state": "killed"}
    assert found.trial(3).reason == Message("foreign.no_reason", kept)
    best = found.best()
    assert dict(best.configuration) == {"lr": 0.01, "optimizer": "sgd", "layers": 2}
    assert (best.value, best.best_step, best.seconds) == (0.4, 20, 5.0)
    assert found.notes[0] == Message("imported.unfinished", {"count": 1})


def test_metrics_logged_without_a_step_keep_every_point(tmp_path: Path) -> None:
    path = folder_store(tmp_path)
    for file in path.glob("*/*/metrics/val/loss"):
        lines = [line.rsplit(" ", 1)[0] + " 0" for line in file.read_text().splitlines()]
        file.write_text("\n".join(lines) + "\n")
    found = importers.mlflow(path, objective=LOSS)
    assert found.trial(0).curves["val/loss"].steps.tolist() == [1, 2]
    assert found.trial(0).curves["val/loss"].values.tolist() == [0.9, 0.6]


def test_the_folder(tmp_path: Path) -> None:
    path = folder_store(tmp_path)
    check_alike(importers.mlflow(path, objective=LOSS))
    check_alike(importers.mlflow(path, "123456", objective=LOSS))


def test_the_database(tmp_path: Path) -> None:
    path = database_store(tmp_path)
    before = path.read_bytes()
    check_alike(importers.mlflow(path, objective=LOSS))
    check_alike(importers.mlflow(f"sqlite:///{path}", "sweep", objective=LOSS))
    assert path.read_bytes() == before


def test_an_experiment_must_be_there(tmp_path: Path) -> None:
    path = folder_store(tmp_path)
    with pytest.raises(NotFound, match=r"no experiment 'sweap'\. Did you mean 'sweep'"):
        importers.mlflow(path, "sweap", objective=LOSS)
    with pytest.raises(NotFound, match="holds no trial that has ended"):
        importers.mlflow(path, "Default", objective=LOSS)
    other = path / "77"
    (other / "a").mkdir(parents=True)
    (other / "meta.yaml").write_text("name: other\n")
    (other / "a" / "meta.yaml").write_text("status: 3\n")
    with pytest.raises(NotFound, match=r"2 experiments with runs: choose one\. There is: sweep"):
        importers.mlflow(path, objective=LOSS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="holds no MLflow runs"):
        importers.mlflow(tmp_path / "empty", objective=LOSS)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("hello")
    with pytest.raises(Damaged, match="neither a folder nor a SQLite file"):
        importers.mlflow(text, objective=LOSS)
    mine = tmp_path / "mine.db"
    with closing(sqlite3.connect(mine)) as database, database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="no such table: experiments"):
        importers.mlflow(mine, objective=LOSS)
