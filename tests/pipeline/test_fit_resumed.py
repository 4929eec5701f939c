"""fit against itself: killed, resumed, called again, and from a checkpoint that does not fit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tests.pipeline import fit_worker
from tests.pipeline.fitting import Handle, X, Y, config, loss, mlp, same

from tunewright import snapshot
from tunewright.errors import PipelineError
from tunewright.pipeline import fit


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_killed_and_resumed_equals_uninterrupted_bit_for_bit(tmp_path: Path, precision) -> None:
    whole, expected = fit_worker.train(None, precision=precision)

    # Without a process: stopped at a step that is neither logged nor evaluated, and again.
    folder = tmp_path / "stopped"
    for stop in (7, 23):
        with pytest.raises(KeyboardInterrupt):
            _train_until(stop, folder, precision)
    resumed, fitted = fit_worker.train(folder, precision=precision)
    assert fitted.start_step > 0
    assert same(whole, resumed)
    assert fitted.curves == expected.curves
    for name, value in expected.averages.state_dict()["values"].items():
        assert torch.equal(value, fitted.averages.state_dict()["values"][name])


def _train_until(stop: int, folder: Path, precision: str) -> None:
    """Break off inside the batch after update `stop`, as a kill would."""
    seen = 0
    original = fit_worker.loss

    def breaking(model, batch):
        nonlocal seen
        seen += 1
        if seen > 2 * stop:  # two parts per update
            raise KeyboardInterrupt
        return original(model, batch)

    fit_worker.loss = breaking
    try:
        fit_worker.train(folder, precision=precision)
    finally:
        fit_worker.loss = original


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_killed_process_resumes_bit_for_bit(tmp_path: Path, kills: int) -> None:
    whole, expected = fit_worker.train(None)
    folder, moments = tmp_path / "killed", random.Random(0)
    for _ in range(kills):
        before = snapshot.latest(folder / "snapshots")
        job = subprocess.Popen(
            [sys.executable, fit_worker.__file__, str(folder), "0.01"],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        deadline = time.monotonic() + 120
        while job.poll() is None and time.monotonic() < deadline:
            newest = snapshot.latest(folder / "snapshots")
            if newest and (before is None or newest.step > before.step):
                break
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.05))
        job.send_signal(signal.SIGKILL)
        job.wait()
    killed_at = snapshot.latest(folder / "snapshots")
    assert killed_at is not None and killed_at.step >= 4
    resumed, fitted = fit_worker.train(folder)
    assert fitted.start_step == killed_at.step
    assert same(whole, resumed) and fitted.curves == expected.curves


def test_the_same_call_again_does_nothing_more(tmp_path: Path) -> None:
    one, first = fit_worker.train(tmp_path)
    two, again = fit_worker.train(tmp_path)
    assert again.start_step == again.steps == first.steps
    assert same(one, two) and again.curves == first.curves
    assert again.selected == first.selected


def test_a_run_resumes_from_what_it_saved(tmp_path: Path) -> None:
    whole = mlp()
    fit(whole, loss, (X, Y), config(), run=Handle(tmp_path))
    first = Handle(tmp_path, stop_at=20)
    fit(mlp(), loss, (X, Y), config(), run=first)
    second = Handle(tmp_path, restored=first.saved[0][1], start_step=20)
    resumed = mlp(seed=99)
    fitted = fit(resumed, loss, (X, Y), config(), run=second)
    assert fitted.start_step == 20 and next(s for s, _ in second.logged) == 21
    assert same(whole, resumed)


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    fit(mlp(), loss, (X, Y), config(), folder=tmp_path)
    with pytest.raises(PipelineError, match="same batch size and seed"):
        fit(mlp(), loss, (X, Y), config(batch_size=20), folder=tmp_path)
    with pytest.raises(PipelineError, match="same batch size and seed"):
        fit(mlp(), loss, (X, Y), config(), folder=tmp_path, seed=1)
    with pytest.raises(PipelineError, match="written without averages"):
        fit(mlp(), loss, (X, Y), config(average_decay=0.9), folder=tmp_path)
    other = Handle(tmp_path, restored={"mine": 1}, start_step=3)
    with pytest.raises(PipelineError, match="not one of fit's"):
        fit(mlp(), loss, (X, Y), config(), run=other)


@pytest.mark.parametrize(
    "changed", [{"base_learning_rate": 0.02}, {"max_train_steps": fit_worker.STEPS + 10}]
)
def test_a_folder_is_not_resumed_under_other_settings(tmp_path: Path, changed: dict) -> None:
    with pytest.raises(KeyboardInterrupt):
        _train_until(23, tmp_path, "fp32")
    (name,) = changed
    with pytest.raises(PipelineError, match=name):
        fit_worker.train(tmp_path, **changed)
    _, fitted = fit_worker.train(tmp_path)  # the settings it was started with still resume it
    assert fitted.start_step > 0
