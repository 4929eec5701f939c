"""TensorBoard: real event files, read back by TensorBoard's own accumulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faults.small_disk import small_disk
from tests.sinks import contract
from tests.sinks.contract import Found, quiet
from tests.sinks.test_mlflow import made

import tunewright as tw
from tunewright.design.workload_file import Sink
from tunewright.sinks._tensorboard import open_tracker

pytest.importorskip("tensorboard")
pytestmark = pytest.mark.beyond_core


def accumulated(folder: Path) -> Any:
    def load() -> Any:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        found = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
        return found.Reload()

    return quiet(load)


def read(where: Path) -> dict[str, Found]:
    found = {}
    configurations = {
        str(trial.started): trial
        for trial in tw.importers.tensorboard(
            where / contract.ROUND, objective=contract.OBJECTIVE
        ).trials
    }
    assert configurations
    settings = imported_settings(where / contract.ROUND)
    for folder in sorted((where / contract.ROUND).iterdir()):
        own = accumulated(folder)
        curves = {
            tag: [(event.step, event.value) for event in own.Scalars(tag)]
            for tag in own.Tags()["scalars"]
        }
        (text,) = own.Tensors("tunewright.summary")
        summary = json.loads(text.tensor_proto.string_val[0])
        found[folder.name] = Found(summary["status"], settings[folder.name], curves, summary)
    return found


def imported_settings(folder: Path) -> dict[str, dict[str, Any]]:
    """The hyperparameters as the hparams page has them; whole numbers are floats there."""
    from tunewright.formats.event_file import read_events

    found = {}
    for path in folder.glob("*/*tfevents*"):
        own = dict(read_events(path).hyperparameters)
        own["max_train_steps"] = int(own["max_train_steps"])
        found[path.parent.name] = own
    return found


def test_event_files_hold_what_the_store_holds(tmp_path: Path) -> None:
    contract.check_sink(Sink("tensorboard", str(tmp_path / "runs")), read, tmp_path, single=True)


def test_killed_in_the_middle_and_caught_up(tmp_path: Path) -> None:
    sink = Sink("tensorboard", str(tmp_path / "runs"))
    contract.check_killed(sink, read, tmp_path, (0.0, 0.01), single=True)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    sink = Sink("tensorboard", str(tmp_path / "runs"))
    contract.check_unreachable(sink, read, tmp_path, single=True)


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1):
        sink = Sink("tensorboard", str(tmp_path / "disk" / "runs"))
        contract.check_full(sink, read, tmp_path, tmp_path / "disk", single=True)


def test_points_are_appended_and_replaced(tmp_path: Path) -> None:
    tracker = open_tracker(Sink("tensorboard", str(tmp_path)))
    tracker.put(made([0.5]))
    tracker.put(made([0.5, 0.25]))
    assert [e.value for e in accumulated(tmp_path / "lr" / "lr-0").Scalars("loss")] == [0.5, 0.25]
    tracker.put(made([0.5, 0.125], "completed"))  # a later attempt replaced the second
    assert [e.value for e in accumulated(tmp_path / "lr" / "lr-0").Scalars("loss")] == [0.5, 0.125]
    tracker.close()
