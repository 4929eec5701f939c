"""A trace of a few steps: a file that names the work of the model, whatever the length."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.pipeline.fitting import X, Y, config, loss, mlp, same

from tunewright.errors import PipelineError
from tunewright.pipeline import fit
from tunewright.pipeline.throughput import TRACED


def events(path: Path) -> list[str]:
    return [event.get("name", "") for event in json.loads(path.read_text())["traceEvents"]]


@pytest.mark.parametrize("steps", [3, 15, 50])
def test_ten_steps_are_written(tmp_path: Path, steps: int) -> None:
    traced, plain = mlp(), mlp()
    fit(traced, loss, (X, Y), config(max_train_steps=steps), trace=tmp_path / "trace.json")
    fit(plain, loss, (X, Y), config(max_train_steps=steps))
    assert same(traced, plain)
    names = events(tmp_path / "trace.json")
    forwards = names.count("aten::linear")
    assert forwards == 2 * min(steps, TRACED)  # two layers in each step


def test_a_training_that_breaks_off_is_written_too(tmp_path: Path) -> None:
    calls = 0

    def breaking(model, batch):
        nonlocal calls
        calls += 1
        if calls == 14:
            raise ZeroDivisionError
        return loss(model, batch)

    with pytest.raises(ZeroDivisionError):
        fit(mlp(), breaking, (X, Y), config(), trace=tmp_path / "trace.json")
    assert 2 <= events(tmp_path / "trace.json").count("aten::linear") < 2 * TRACED


def test_a_folder_that_is_not_there_is_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as raised:
        fit(mlp(), loss, (X, Y), config(), trace=tmp_path / "none" / "trace.json")
    assert raised.value.code == "fit.trace_folder"
