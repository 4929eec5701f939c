"""TensorBoard folders, written as PyTorch, TensorFlow 2 and Keras write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given as for_all, strategies as st
from tests.importers.event_writer import (
    event,
    failed_session,
    hyperparameters,
    scalar,
    tensor,
    write,
)

from tunewright import importers
from tunewright.design.objective import minimize
from tunewright.design.ranges import Choice, Log
from tunewright.errors import Damaged, DesignError, NotFound
from tunewright.formats.event_file import read_events
from tunewright.formats.wire import fields
from tunewright.messages import Message

LOSS = minimize("valid/loss")


def sweep(root: Path) -> None:
    """Four trials, each with a session in a folder below it."""
    for place, rate in enumerate((1e-4, 1e-3, 1e-2, 1e-1)):
        trial = root / f"trial_{place}"
        points = [event(step, scalar("valid/loss", rate + 1 / step)) for step in (10, 20, 40)]
        write(trial, *points)
        session = hyperparameters(lr=rate, optimizer=("adam", "sgd")[place % 2], depth=3, amp=True)
        write(trial / "1700000000.5", event(0, session), event(0, scalar("hparam/best", 1.0)))


def test_a_sweep_with_hyperparameters(tmp_path: Path) -> None:
    sweep(tmp_path / "runs")
    found = importers.tensorboard(tmp_path / "runs", objective=LOSS)
    assert found.round.goal == Message("goal.imported", {"origin": "the TensorBoard folder runs"})
    assert isinstance(found.round.nuisance["lr"], Log)
    assert found.round.nuisance["optimizer"] == Choice(("adam", "sgd"))
    assert found.round.fixed == {"depth": 3, "amp": True}
    assert len(found.trials) == 4 and found.counts == {"completed": 4}
    best = found.best()
    assert best.configuration["lr"] == 1e-4
    assert (best.value, best.best_step) == (pytest.approx(1e-4 + 1 / 40), 40)
    assert best.curves["valid/loss"].steps.tolist() == [10, 20, 40]
    assert set(found.metrics) == {"valid/loss", "hparam/best"}
    assert best.seconds == 40.0


def test_scalars_as_tensors_and_folders_of_keras(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 2.0)):
        for split in ("train", "validation"):
            write(tmp_path / name / split, event(5, tensor("epoch_loss", factor)))
    found = importers.tensorboard(
        tmp_path,
        objective=minimize("validation/epoch_loss"),
        configurations={"a": {"model": {"width": 8}}, "b": {"model": {"width": 16}}},
    )
    assert len(found.trials) == 2
    assert set(found.metrics) == {"train/epoch_loss", "validation/epoch_loss"}
    assert found.best().configuration == {"model.width": 8}


def test_divergence_and_failure_are_seen(tmp_path: Path) -> None:
    write(tmp_path / "a", event(1, hyperparameters(lr=0.1)), event(1, scalar("loss", 1.0)))
    write(tmp_path / "b", event(1, hyperparameters(lr=1.0)), event(2, scalar("loss", float("nan"))))
    write(tmp_path / "c", event(1, hyperparameters(lr=9.0)), event(3, failed_session()))
    found = importers.tensorboard(tmp_path, objective=minimize("loss"))
    assert [t.status for t in found.trials] == ["completed", "infeasible", "failed"]
    kept = {"source": "TensorBoard", "state": "failed"}
    assert found.trial(2).reason == Message("foreign.no_reason", kept)


def test_sessions_side_by_side_are_trials_and_a_single_one_is_the_folders(tmp_path: Path) -> None:
    several, one = tmp_path / "several", tmp_path / "one"
    write(several)
    for place in range(3):
        values = event(1, hyperparameters(lr=0.1 * (1 + place)), scalar("loss", place))
        write(several / str(place), values)
    assert len(importers.tensorboard(several, objective=minimize("loss")).trials) == 3
    write(one, event(1, scalar("loss", 1.0)))
    write(one / "1700.5", event(0, hyperparameters(lr=0.5)))
    (trial,) = importers.tensorboard(one, objective=minimize("loss")).trials
    assert trial.configuration == {"lr": 0.5} and trial.value == 1.0


def test_a_torn_file_gives_what_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "a", *(event(step, scalar("loss", 1 / step)) for step in (1, 2, 3)))
    path.write_bytes(path.read_bytes()[:-10])
    found = importers.tensorboard(tmp_path, objective=minimize("loss"))
    assert found.trial(0).curves["loss"].steps.tolist() == [1, 2]
    codes = [note.code for note in found.notes]
    assert {"imported.torn_events", "imported.no_hyperparameters"} <= set(codes)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no event files"):
        importers.tensorboard(tmp_path, objective=LOSS)
    with pytest.raises(NotFound, match="no folder at"):
        importers.tensorboard(tmp_path / "nothing", objective=LOSS)
    sweep(tmp_path)
    with pytest.raises(DesignError, match="Did you mean 'valid/loss'"):
        importers.tensorboard(tmp_path, objective=minimize("valid_loss"))
    with pytest.raises(DesignError, match="Did you mean 'trial_1'"):
        importers.tensorboard(tmp_path, objective=LOSS, configurations={"trial1": {"lr": 1}})


@for_all(st.binary(max_size=200))
def test_any_bytes_end_in_fields_or_in_a_refusal(data: bytes) -> None:
    try:
        found = list(fields(data))
    except Damaged:
        return
    assert all(number >= 0 for number, _ in found)


@for_all(st.binary(max_size=300))
def test_any_file_ends_in_events(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        whole = write(Path(folder) / "whole", event(1, scalar("loss", 0.5)))
        whole.write_bytes(whole.read_bytes() + data)
        found = read_events(whole)
    assert found.scalars[:1] == [("loss", 1, 0.5)]
    assert found.torn or not data
