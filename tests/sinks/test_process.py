"""The process of a sink: a call that takes too long restarts it, or ends it after the round."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator

import pytest

from tunewright.sinks import _process
from tunewright.sinks._process import HUNG, Watch, supervise


@pytest.mark.parametrize("tracker", ["mlflow", "tensorboard", "wandb", "trackio", "swanlab"])
def test_every_tracker_is_opened_by_the_same_name(tracker: str) -> None:
    """The process finds `open_tracker` by name, where no type checker looks."""
    assert callable(importlib.import_module(f"tunewright.sinks._{tracker}").open_tracker)


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end to write to of a pipe that `supervise` watches."""
    reading, writing = os.pipe()
    monkeypatch.setattr(_process, "LOOK_S", 0.01)

    def at_end(wait_s: float) -> bool:
        import select

        ready, _, _ = select.select([reading], [], [], wait_s)
        return bool(ready) and os.read(reading, 1) == b""

    monkeypatch.setattr(_process, "_at_end", at_end)
    yield writing
    os.close(reading)


def hangs(closing: threading.Event, watch: Watch) -> int:
    watch.begin_call()
    threading.Event().wait()
    return 0


def test_a_hung_call_restarts_the_process_while_the_round_runs(standard_input: int) -> None:
    restarts: list[bool] = []
    assert supervise(hangs, 0.02, lambda: restarts.append(True)) == HUNG
    assert restarts == [True]
    os.close(standard_input)


def test_a_hung_call_ends_the_process_after_the_round(standard_input: int) -> None:
    os.close(standard_input)
    codes: list[int] = []
    assert supervise(hangs, 0.05, lambda: None, codes.append) == HUNG
    assert codes == [HUNG]


def test_the_end_of_the_round_is_passed_on(standard_input: int) -> None:
    os.close(standard_input)

    def work(closing: threading.Event, watch: Watch) -> int:
        return 7 if closing.wait(10) else 1

    assert supervise(work, 5.0, lambda: None) == 7


def test_an_error_is_an_exit_code(standard_input: int, capsys: pytest.CaptureFixture[str]) -> None:
    def work(closing: threading.Event, watch: Watch) -> int:
        raise RuntimeError("no store")

    assert supervise(work, 5.0, lambda: None) == 1
    assert "no store" in capsys.readouterr().err
    os.close(standard_input)
