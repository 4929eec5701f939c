"""What a trial may leave changed in its process is seen; what it only reads is not."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tunewright.execution.processes.surroundings import differences, look


def test_nothing_changes_by_itself() -> None:
    assert differences(look(), look()) == []


def other_handler(number: int, frame: object) -> None: ...


CHANGES: dict[str, Callable[[pytest.MonkeyPatch, Path], object]] = {
    "the working folder": lambda patch, folder: patch.chdir(folder),
    "sys.path": lambda patch, folder: patch.syspath_prepend(str(folder)),
    "the environment": lambda patch, folder: patch.setenv("PATH", "/nowhere"),
    "standard output": lambda patch, folder: patch.setattr(sys, "stdout", sys.__stderr__),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_named(what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = look()
    CHANGES[what](monkeypatch, tmp_path)
    found = differences(before, look())
    monkeypatch.undo()
    assert found == [what]


def test_handlers_threads_and_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    before = look()
    old = signal.signal(signal.SIGTERM, other_handler)
    errors = np.seterr(divide="raise")
    event = threading.Event()
    thread = threading.Thread(target=event.wait, daemon=False)
    thread.start()
    try:
        assert differences(before, look()) == [
            "signal handlers",
            "threads",
            "numpy's error handling",
        ]
    finally:
        signal.signal(signal.SIGTERM, old)
        np.seterr(**errors)
        event.set()
        thread.join()


def test_a_variable_that_was_only_added_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = look()
    monkeypatch.setenv("A_LIBRARY_SETS_THIS", "1")
    assert differences(before, look()) == []
    monkeypatch.delenv("A_LIBRARY_SETS_THIS")
    monkeypatch.delenv("PATH")
    assert differences(before, look()) == ["the environment"]


def test_torch_imported_meanwhile_is_compared_with_a_fresh_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = pytest.importorskip("torch")
    before = {name: value for name, value in look().items() if not name.startswith("torch")}
    monkeypatch.setenv("OMP_NUM_THREADS", str(torch.get_num_threads()))
    before["the environment"] = dict(os.environ)
    assert differences(before, look()) == []
    torch.set_default_dtype(torch.float64)
    try:
        assert differences(before, look()) == ["torch's default dtype"]
    finally:
        torch.set_default_dtype(torch.float32)
    monkeypatch.setenv("OMP_NUM_THREADS", str(torch.get_num_threads() + 1))
    before["the environment"] = dict(os.environ)
    assert differences(before, look()) == ["torch's threads"]
