"""The handle: what is saved, which snapshots stay, and what the next attempt resumes from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.execution.driving import handle

from tunewright import snapshot
from tunewright.errors import BadValue, WorkloadError
from tunewright.execution.handle import FOLDER, Control


def test_what_is_saved_comes_back_in_the_next_attempt(tmp_path: Path) -> None:
    run, told = handle(tmp_path, {"max_train_steps": 20})
    assert run.restored is None and run.start_step == 0
    for step in run.steps(20):
        run.log(step, loss=1.0)
        if run.save_due(step):
            run.save({"weights": np.arange(3), "step": step})
    assert [saved.step for saved in told.saved] == list(range(2, 21, 2))
    last = told.saved[-1]
    kept = snapshot.latest(tmp_path / FOLDER)
    assert kept is not None
    assert (kept.path, kept.sha256) == (tmp_path / last.path, last.sha256)

    run, told = handle(tmp_path, {"max_train_steps": 30}, attempt=2)
    assert run.start_step == 20
    assert run.restored["step"] == 20
    assert list(run.restored["weights"]) == [0, 1, 2]
    assert list(run.steps(23)) == [21, 22, 23]


def test_what_was_told_before_a_snapshot_comes_before_it(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    run.log(3, loss=1.0)
    run.save({})
    kinds = [type(event).__name__ for event in told.events]
    assert kinds == ["Logged", "Saved"]
    assert told.saved[0].step == 3  # the last one logged, as run.steps was not used


def test_what_led_to_a_file_of_the_program_s_own_is_told_before_it_is_written(
    tmp_path: Path,
) -> None:
    run, told = handle(tmp_path, {"max_train_steps": 20})
    run.log(1, loss=1.0)
    run.log(2, loss=0.5)
    assert not run.save_due(1) and told.events == []
    assert run.save_due(2)
    assert [type(event).__name__ for event in told.events] == ["Logged"]


def test_the_step_of_a_snapshot(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    run.save({})  # nothing done yet
    run.save({}, step=7)
    for step in run.steps(2):
        run.log(step * 10, loss=1.0)
    run.save({})
    assert [saved.step for saved in told.saved] == [0, 7, 2]


def test_the_last_two_snapshots_stay(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step in run.steps(5):
        run.save({"step": step})
    assert [kept.step for kept in snapshot.list_snapshots(tmp_path / FOLDER)] == [5, 4]


def kept_steps(folder: Path) -> list[int]:
    return [kept.step for kept in snapshot.list_snapshots(folder / FOLDER)]


@pytest.mark.parametrize("saves_first", [False, True])
def test_the_best_snapshot_stays_beside_the_last_two(tmp_path: Path, saves_first: bool) -> None:
    run, _ = handle(tmp_path)
    for step in run.steps(9):
        if saves_first:
            run.save({"step": step})
        run.log(step, valid_error=abs(step - 3))
        if not saves_first:
            run.save({"step": step})
    assert kept_steps(tmp_path) == [9, 8, 3]


def test_a_new_best_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step, error in enumerate([0.5, 0.3, 0.4, 0.4, 0.2, 0.2, 0.9, 0.9], start=1):
        run.log(step, valid_error=error)
        run.save({}, step=step)
    assert kept_steps(tmp_path) == [8, 7, 5], "of equal ones the earlier"


def test_a_later_attempt_knows_the_best_snapshot_it_builds_on(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step in range(1, 6):
        run.log(step, valid_error=abs(step - 2))
        run.save({}, step=step)
    run, _ = handle(tmp_path, attempt=2)
    assert run.restored == {}
    for step in range(6, 9):
        run.log(step, valid_error=1.0)
        run.save({}, step=step)
    assert kept_steps(tmp_path) == [8, 7, 2]


def test_what_a_later_attempt_does_not_build_on_is_not_its_best(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step in range(1, 4):
        run.log(step, valid_error=0.0)
        run.save({}, step=step)
    run, _ = handle(tmp_path, attempt=2)  # it never reads run.restored, so it begins at step 0
    for step in run.steps(6):
        run.log(step, valid_error=0.5)
        run.save({}, step=step)
    assert {4, 5, 6} & set(kept_steps(tmp_path)) == {5, 6}
    assert not {s.step for s in snapshot.list_snapshots(tmp_path / FOLDER) if s.attempt == 1}


def test_without_the_objective_only_the_last_two_stay(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step in run.steps(5):
        run.log(step, another_metric=float(step))
        run.save({})
    assert kept_steps(tmp_path) == [5, 4]


def test_case_21_a_torn_snapshot_is_skipped(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    for step in run.steps(2):
        run.save({"weights": np.full(100, step)})
    torn = tmp_path / told.saved[-1].path / "tensors.safetensors"
    torn.write_bytes(torn.read_bytes()[:-10])
    run, _ = handle(tmp_path, attempt=2)
    assert run.start_step == 1
    assert run.restored["weights"][0] == 1


def test_a_first_attempt_takes_nothing_from_others(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for _ in run.steps(5):
        run.save({})
    run, _ = handle(tmp_path)
    assert run.restored is None and run.start_step == 0


def test_who_does_not_restore_starts_at_the_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = handle(tmp_path)
    for _ in run.steps(5):
        run.save({})
    run, told = handle(tmp_path, attempt=2)
    Control(run).announce()
    assert next(iter(run.steps(5))) == 1
    assert [began.start_step for began in told.began] == [5, 0]  # the last one counts
    assert "run.restored" in capsys.readouterr().err
    with pytest.raises(WorkloadError, match="read it before"):
        run.restored  # noqa: B018


def test_checkpoints_of_ones_own(tmp_path: Path) -> None:
    run, told = handle(tmp_path, attempt=2)
    run.resumed_at(400)
    assert told.began[-1].start_step == run.start_step == 400
    with pytest.raises(BadValue, match="logged step 1 after it resumed at step 400"):
        run.log(1, loss=1.0)
    with pytest.raises(WorkloadError, match="before"):
        run, _ = handle(tmp_path)
        run.log(1, loss=1.0)
        run.resumed_at(5)


@pytest.mark.parametrize("saves_first", [False, True])
def test_the_best_three_stay_and_what_is_not_among_them_is_not_written(
    tmp_path: Path, saves_first: bool
) -> None:
    errors = [0.9, 0.5, 0.7, 0.6, 0.8, 0.3, 0.55, 0.4, 0.95, 0.99] * 10  # then worse, all of them
    run, told = handle(tmp_path, {"max_train_steps": 100})
    for step in run.steps(100):
        if saves_first:
            run.save({"step": step}, best=3)
        run.log(step, valid_error=errors[step - 1] + step // 10)
        if not saves_first and (run.eval_due(step) or run.save_due(step)):
            run.save({"step": step}, best=3)
    kept = kept_steps(tmp_path)
    assert set(kept[-3:]) == {2, 6, 8} and 100 in kept
    written = [saved.step for saved in told.saved]
    if not saves_first:  # 10 that are due, and those that were among the best when they came
        assert written == [1, 2, 3, 4, 6, 7, 8, *range(10, 101, 10)]


def test_a_later_attempt_keeps_the_best_three_of_both(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    for step in run.steps(10):
        run.log(step, valid_error=abs(step - 4) / 10)
        run.save({}, step=step, best=3)
    assert set(kept_steps(tmp_path)) == {3, 4, 5, 9, 10}
    again, _ = handle(tmp_path, attempt=2)
    assert again.restored == {}
    for step in again.steps(20):
        again.log(step, valid_error=0.05 if step == 15 else 1.0)
        again.save({}, step=step, best=3)
    assert set(kept_steps(tmp_path)) == {3, 4, 15, 18, 20}  # 18 and 20 are due


@pytest.mark.parametrize("best", [0, -1, 1.5, True])
def test_a_bad_number_of_best_is_refused(tmp_path: Path, best: object) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(WorkloadError) as raised:
        run.save({}, best=best)
    assert raised.value.code == "run.bad_best"
