"""A library's own checkpoints as snapshots of the trial: whole, few, and resumed from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.execution.driving import OBJECTIVE, assignment, handle

from tunewright.design.names import Meaning
from tunewright.errors import Stopped
from tunewright.execution.handle import Control, Handle
from tunewright.integrations._checkpoints import Checkpoints


def nobody() -> None:
    """One rank waits for nobody."""


def saved(checkpoints: Checkpoints, step: int) -> None:
    checkpoints.write(step, lambda path: path.write_text(str(step)), first=True, wait=nobody)
    checkpoints.register(first=True, wait=nobody)


def test_the_last_two_stay_and_the_next_attempt_resumes(tmp_path: Path) -> None:
    run, told = handle(tmp_path, {"max_train_steps": 9})
    checkpoints = Checkpoints(run, "own")
    assert checkpoints.latest is None
    for step in (3, 6, 9):
        saved(checkpoints, step)
    assert sorted(p.name for p in (run.folder / "own").iterdir()) == [
        "step-000000006",
        "step-000000009",
    ]
    again = replace(assignment(tmp_path, {}), attempt=2, folder=run.folder)
    later = Handle(again, OBJECTIVE, Meaning(), lambda event: None)
    found = Checkpoints(later, "own").latest
    assert found is not None and found.read_text() == "9" and later.start_step == 9
    assert [one.step for one in told.saved] == [3, 6, 9]


def test_one_that_is_gone_means_a_fresh_start(tmp_path: Path) -> None:
    run, _ = handle(tmp_path, {"max_train_steps": 9})
    checkpoints = Checkpoints(run, "own")
    saved(checkpoints, 3)
    checkpoints.path(3).unlink()
    again = replace(assignment(tmp_path, {}), attempt=2, folder=run.folder)
    later = Handle(again, OBJECTIVE, Meaning(), lambda event: None)
    assert Checkpoints(later, "own").latest is None and later.start_step == 0


@pytest.mark.parametrize("first", [True, False])
def test_a_stop_ends_every_rank_after_saving(tmp_path: Path, first: bool) -> None:
    run, _ = handle(tmp_path, {"max_train_steps": 9})
    checkpoints = Checkpoints(run, "own")
    (run.folder / "own").mkdir(parents=True)
    Control(run).ask_stop()
    checkpoints.write(3, lambda path: path.write_text("3"), first=first, wait=nobody)
    with pytest.raises(Stopped):
        checkpoints.register(first=first, wait=nobody)
    checkpoints.register(first=first, wait=nobody)  # nothing waits any more


def test_what_is_no_checkpoint_stays_beside_them(tmp_path: Path) -> None:
    """A Trainer may write into the trial's own folder, next to its snapshots and its record."""
    run, _ = handle(tmp_path, {"max_train_steps": 9})
    run.folder.mkdir(parents=True, exist_ok=True)
    (run.folder / "trial.json").write_text("{}")
    checkpoints = Checkpoints(run, "own")
    for step in (2, 4, 6, 8):
        (run.folder / f"checkpoint-{step}").mkdir()
        assert checkpoints.keep(step, run.folder / f"checkpoint-{step}", ["checkpoint-2"]) is None
    assert sorted(path.name for path in run.folder.iterdir()) == [
        *("checkpoint-2", "checkpoint-6", "checkpoint-8", "snapshots", "trial.json"),
    ]
