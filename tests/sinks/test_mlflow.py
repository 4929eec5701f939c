"""MLflow: a real folder and database, read back by MLflow's own client; servers that fail."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.faults.small_disk import small_disk
from tests.sinks import contract
from tests.sinks.contract import Found, quiet

from tunewright.design.workload_file import Sink
from tunewright.sinks import sync
from tunewright.sinks._mlflow import STATES, open_tracker
from tunewright.sinks._trial_run import TrialRun
from tunewright.store.curves import Curve

pytest.importorskip("mlflow")
pytestmark = pytest.mark.beyond_core


def client(where: str) -> Any:
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")

    def make() -> Any:
        from mlflow.tracking import MlflowClient

        return MlflowClient(tracking_uri=where)

    return quiet(make)


def read(where: Path) -> dict[str, Found]:
    own = client(str(where))
    experiment = own.get_experiment_by_name(contract.ROUND)
    found = {}
    for run in own.search_runs([experiment.experiment_id]):
        history = {
            name: [(p.step, p.value) for p in own.get_metric_history(run.info.run_id, name)]
            for name in run.data.metrics
        }
        tags = {k[11:]: v for k, v in run.data.tags.items() if k.startswith("tunewright.")}
        assert run.info.status == STATES[tags["status"]]
        assert run.info.run_name not in found, "one run per trial"
        name = run.info.run_name
        found[name] = Found(tags["status"], dict(run.data.params), history, tags)
    return found


def test_a_folder_holds_what_the_store_holds(tmp_path: Path) -> None:
    contract.check_sink(Sink("mlflow", str(tmp_path / "mlruns")), read, tmp_path)


def test_killed_in_the_middle_and_caught_up(tmp_path: Path) -> None:
    sink = Sink("mlflow", str(tmp_path / "mlruns"))
    contract.check_killed(sink, read, tmp_path, (0.0, 0.05))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    contract.check_unreachable(Sink("mlflow", str(tmp_path / "mlruns")), read, tmp_path)


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2):
        sink = Sink("mlflow", str(tmp_path / "disk" / "mlruns"))
        contract.check_full(sink, read, tmp_path, tmp_path / "disk")


def test_a_server_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEWRIGHT_SINK_PATIENCE_S", "0.5")
    store = contract.recorded(tmp_path, trials=3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []
        threading.Thread(target=lambda: held.append(server.accept()), daemon=True).start()
        (answer,) = sync(
            store, contract.ROUND, f"mlflow:http://127.0.0.1:{server.getsockname()[1]}"
        )
    assert answer.left and "TimeoutError" in answer.error


def made(values: list[float], status: str = "running") -> TrialRun:
    curve = Curve(np.arange(1, len(values) + 1), np.array(values))
    ended = None if status == "running" else 20.0
    settings = {"learning_rate": 0.1}
    return TrialRun(
        *("0123456789abcdef", "lr-0", "lr", "", "goal", settings, 7, status, 10.0, ended),
        curves={"loss": curve},
        summary={"status": status},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mlruns"


def only(where: Path) -> tuple[str, list[tuple[int, float]]]:
    own = read(where)["lr-0"]
    return own.status, own.curves["loss"]


def test_points_are_added_while_a_trial_runs(folder: Path) -> None:
    tracker = quiet(lambda: open_tracker(Sink("mlflow", str(folder))))
    tracker.put(made([0.5]))
    tracker.put(made([0.5, 0.25]))
    again = open_tracker(Sink("mlflow", str(folder)))  # another process resumes
    again.put(made([0.5, 0.25, 0.125], "completed"))
    assert only(folder) == ("completed", [(1, 0.5), (2, 0.25), (3, 0.125)])


def test_points_that_a_later_attempt_replaced(folder: Path) -> None:
    tracker = quiet(lambda: open_tracker(Sink("mlflow", str(folder))))
    tracker.put(made([0.5, 0.4]))
    tracker.put(made([0.5, 0.3, 0.2], "completed"))
    assert only(folder) == ("completed", [(1, 0.5), (2, 0.3), (3, 0.2)])


@pytest.mark.parametrize("torn", ["params/learning_rate", "metrics/loss", "tags/tunewright.key"])
def test_a_run_that_a_killed_process_left_torn(folder: Path, torn: str) -> None:
    quiet(lambda: open_tracker(Sink("mlflow", str(folder))).put(made([0.5])))
    (path,) = folder.glob(f"*/*/{torn}")
    path.write_text("")
    quiet(lambda: open_tracker(Sink("mlflow", str(folder))).put(made([0.5, 0.25], "completed")))
    assert only(folder) == ("completed", [(1, 0.5), (2, 0.25)])


def test_a_database_keeps_infinity_and_nan(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path / 'mlflow.db'}"
    values = [0.5, float("nan"), float("inf")]
    tracker = quiet(lambda: open_tracker(Sink("mlflow", where)))
    quiet(lambda: tracker.put(made(values)))
    again = quiet(lambda: open_tracker(Sink("mlflow", where)))
    quiet(lambda: again.put(made([*values, 0.1], "completed")))
    own = client(where)
    (run,) = own.search_runs([own.get_experiment_by_name("lr").experiment_id])
    history = own.get_metric_history(run.info.run_id, "loss")
    assert sorted(point.step for point in history) == [1, 2, 3, 4]
