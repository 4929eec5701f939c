"""A run is moved into place only once it reads back whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.errors import StoreError
from tunewright.sinks import _whole_run
from tunewright.sinks._trial_run import TrialRun
from tunewright.sinks._whole_run import UNFINISHED, write_whole

RUN = TrialRun("k1", "lr-1", "lr", "", "", {}, 0, "completed", 0.0, 1.0, {}, {})


def made_as(name: str, text: str):  # type: ignore[no-untyped-def]
    def make(folder: Path, run: TrialRun) -> Path:
        (folder / name).mkdir()
        (folder / name / "run.txt").write_text(text)
        return folder / name

    return make


def is_of(folder: Path) -> bool:
    return folder.name.startswith("run-") and folder.name.endswith("-k1")


def test_a_run_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "other-k2").mkdir()
    for text in ("first", "second"):
        write_whole(tmp_path, RUN, made_as(f"run-{text}-k1", text), is_of, lambda f, r: True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other-k2", "run-second-k1"]


def test_a_run_that_is_not_whole_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_whole_run, "WHOLE_S", 0.0)
    write_whole(tmp_path, RUN, made_as("run-a-k1", "good"), is_of, lambda f, r: True)
    with pytest.raises(StoreError) as error:
        write_whole(tmp_path, RUN, made_as("run-b-k1", "torn"), is_of, lambda f, r: False)
    assert error.value.code == "sink.not_whole"
    assert [path.name for path in tmp_path.iterdir()] == ["run-a-k1"]


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / f"{UNFINISHED}k1").mkdir()
    (tmp_path / f"{UNFINISHED}k1" / "half").write_text("x")
    write_whole(tmp_path, RUN, made_as("run-a-k1", "good"), is_of, lambda f, r: True)
    assert [path.name for path in tmp_path.iterdir()] == ["run-a-k1"]
