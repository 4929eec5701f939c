"""The handle: steps, logging and stopping, from the training function's side."""

from __future__ import annotations

import math
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.execution.driving import OBJECTIVE, Told, assignment, handle

from tunewright.design.names import Meaning
from tunewright.errors import BadValue, Diverged, Stopped, WorkloadError
from tunewright.execution import points as points_module
from tunewright.execution.handle import FOLDER, Control, Handle


def test_steps_run_to_the_last_and_log_in_order(tmp_path: Path) -> None:
    run, told = handle(tmp_path, {"max_train_steps": 5})
    assert list(run.steps(3)) == [1, 2, 3]
    run.log(3, loss=1.0)
    run.log(3, {"train/loss": 2.0}, error=0.5)
    run.flush()
    curves = told.curves
    assert {name: list(curve.values) for name, curve in curves.items()} == {
        "loss": [1.0],
        "train/loss": [2.0],
        "error": [0.5],
    }


def test_the_number_of_steps_may_come_from_the_configuration(tmp_path: Path) -> None:
    run, _ = handle(tmp_path, {"epochs": 4.0}, means={"max_train_steps": "epochs"})
    assert list(run.steps()) == [1, 2, 3, 4]
    assert run.eval_every == 1
    run, _ = handle(tmp_path, {})
    with pytest.raises(WorkloadError, match=r"call run.steps\(max_train_steps\), or name"):
        run.eval_due(3)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(total=st.integers(1, 3000), data=st.data())
def test_eval_due_is_a_function_of_the_step(
    tmp_path: Path, total: int, data: st.DataObject
) -> None:
    """Asked in any order, by a run that logs or one that does not, the answers are the same."""
    one, _ = handle(tmp_path, {"max_train_steps": total})
    two, _ = handle(tmp_path, {"max_train_steps": total})
    asked = data.draw(st.lists(st.integers(0, total), max_size=20))
    answers = {step: one.eval_due(step) for step in asked}
    for step in sorted(asked):
        two.log(step, loss=1.0)
        assert two.eval_due(step) == answers[step]
    assert one.eval_due(total)


def test_a_workload_may_ask_for_evaluations_at_other_steps(tmp_path: Path) -> None:
    own = replace(assignment(tmp_path, {"max_train_steps": 1000}), eval_every=3)
    run = Handle(own, OBJECTIVE, Meaning(), lambda event: None)
    assert [step for step in range(1, 11) if run.eval_due(step)] == [3, 6, 9]
    assert run.eval_due(1000) and run.eval_every == 3


def test_steps_may_repeat_but_not_go_back(tmp_path: Path) -> None:
    run, told = handle(tmp_path, number=12)
    run.log(400, loss=1.0)
    run.log(400, error=1.0)
    with pytest.raises(BadValue) as caught:
        run.log(300, loss=1.0)
    first, *rest = str(caught.value).splitlines()
    assert first == "trial 12 logged step 300 after step 400 within one attempt"
    assert rest[0].startswith("  where   test_handle.py:")
    with pytest.raises(BadValue):
        run.log(500, loss=1.0)  # it is over, whatever comes next
    run.flush()
    assert list(told.curves) == ["loss", "error"]


@pytest.mark.parametrize("step", [-1, 1.5, True, "3"])
def test_a_bad_step_ends_the_trial(tmp_path: Path, step: object) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(BadValue, match="step"):
        run.log(step, loss=1.0)  # type: ignore[arg-type]
    assert Control(run).over is not None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00", "\ud800", "x" * 201])
def test_a_metric_needs_a_printable_name(tmp_path: Path, name: str) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(BadValue, match="cannot name a metric"):
        run.log(1, {name: 1.0})


def test_the_second_argument_is_a_dictionary(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(BadValue, match="second argument is a dictionary"):
        run.log(1, 0.5)  # type: ignore[arg-type]


def test_whole_numpy_steps_are_steps(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    run.log(np.int64(3), loss=1.0)  # type: ignore[arg-type]
    run.flush()
    assert list(told.curves["loss"].steps) == [3]


def test_meanings_decide_what_must_stay_finite(tmp_path: Path) -> None:
    run, _ = handle(tmp_path, means={"train_loss": "train/loss"})
    run.log(1, {"train_loss": float("nan")})  # means nothing here
    with pytest.raises(Diverged, match="train/loss is nan at step 2"):
        run.log(2, {"train/loss": float("nan")})


# ---- stopping


def test_a_stop_makes_saving_due_and_ends_after_it(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    reached = []
    with pytest.raises(Stopped, match="after saving at step 6"):
        for step in run.steps(1000):
            reached.append(step)
            run.log(step, loss=1.0)
            if step == 6:
                Control(run).ask_stop()
            if run.save_due(step):
                run.save({})
    assert reached[-1] == 6
    assert told.saved[-1].step == 6


def test_who_saves_in_another_way_has_one_step_for_it(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    saved = []
    with pytest.raises(Stopped, match="after step 6"):
        for step in run.steps(1000):
            if step == 6:
                Control(run).ask_stop()
            if run.save_due(step):
                saved.append(step)
    assert saved == [6]


def test_who_never_saves_is_not_waited_for(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(Stopped, match="without a snapshot"):
        for step in run.steps(100):
            if step == 50:
                Control(run).ask_stop()
            run.log(step, loss=1.0)
    assert run.step == 50


def test_who_might_still_save_is_waited_for(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    Control(run).ask_stop()
    for step in run.steps(100):
        run.log(step, loss=1.0)
        if step == 9:
            break  # before the first save would be due, nothing is known of this program
    assert Control(run).over is None


# ---- ranks and processes


def test_other_ranks_are_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    run, told = handle(tmp_path)
    Control(run).announce()
    for step in run.steps(10):
        run.log(step, loss="not even looked at")
        if run.save_due(step):
            run.save(object())
    run.flush()
    assert told.events == []
    assert not (tmp_path / FOLDER).exists()
    first, _ = handle(tmp_path)
    monkeypatch.setenv("RANK", "0")
    second, _ = handle(tmp_path)
    assert first.seeds.init == second.seeds.init
    assert first.seeds.data != second.seeds.data


def test_it_stays_in_its_process(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(WorkloadError, match="cannot be sent to another process"):
        pickle.dumps(run)


# ---- tensors on a device


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every tensor for one on a device: only where it lives is pretended."""
    torch = pytest.importorskip("torch")
    is_tensor = lambda value: isinstance(value, torch.Tensor)  # noqa: E731
    monkeypatch.setattr(sys.modules["tunewright.execution.handle"], "on_device", is_tensor)


@pytest.mark.usefixtures("device")
def test_tensors_are_read_late_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(points_module, "LONGEST_HELD_S", 1e9)
    run, told = handle(tmp_path, {"max_train_steps": 1000})
    total = torch.zeros((), requires_grad=False)
    for step in range(1, 6):
        total += step  # overwritten in place, as accumulators and CUDA graphs do
        run.log(step, loss=total, half=total.half(), plain=float(step))
    Control(run).tell_points()
    assert told.events == []  # nothing was waited for
    assert run.eval_due(10)
    run.flush()
    curves = told.curves
    assert list(curves["loss"].values) == [1, 3, 6, 10, 15]
    assert list(curves["half"].values) == [1, 3, 6, 10, 15]
    assert list(curves["plain"].values) == [1, 2, 3, 4, 5]


@pytest.mark.usefixtures("device")
def test_many_tensors_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(points_module, "LONGEST_HELD_S", 1e9)
    run, told = handle(tmp_path)
    for step in range(1, points_module.MOST_HELD):
        run.log(step, loss=torch.tensor(1.0))
    Control(run).tell_points()
    assert told.events == []
    run.log(1000, loss=torch.tensor(1.0))
    Control(run).tell_points()
    assert len(told.curves["loss"]) == points_module.MOST_HELD


@pytest.mark.usefixtures("device")
def test_a_loss_found_infinite_late_still_ends_the_trial(tmp_path: Path) -> None:
    import torch

    run, told = handle(tmp_path, {"max_train_steps": 100})
    run.log(1, train_loss=torch.tensor(float("inf")))
    run.log(2, train_loss=torch.tensor(1.0))
    with pytest.raises(Diverged, match=r"train_loss is \+inf at step 1"):
        run.flush()
    assert list(told.curves["train_loss"].steps) == [1, 2]
    with pytest.raises(BadValue, match="shape"):
        handle(tmp_path)[0].log(1, loss=torch.ones(2))


def test_the_process_of_the_handle_is_told(tmp_path: Path) -> None:
    run, told = handle(tmp_path)
    Control(run).announce()
    assert str(os.getpid()) in told.began[0].worker


def test_many_steps_at_once_are_logged_as_one_by_one(tmp_path: Path) -> None:
    (one, told_one), (many, told_many) = handle(tmp_path / "a"), handle(tmp_path / "b")
    columns = {"train_loss": [0.5, 0.25, 0.125], "gradient_norm": [1.0, math.inf, 3.0]}
    for step, loss, norm in zip((1, 2, 3), *columns.values(), strict=True):
        one.log(step, train_loss=loss, gradient_norm=norm)
    many.log_steps([1, 2], {name: values[:2] for name, values in columns.items()})
    many.log_steps([3], {name: values[2:] for name, values in columns.items()})
    for run in (one, many):
        run.flush()

    def points(told: Told) -> dict[str, tuple[list[int], list[float]]]:
        return {n: (c.steps.tolist(), c.values.tolist()) for n, c in told.curves.items()}

    assert points(told_many) == points(told_one) and many.step == 3
    with pytest.raises(BadValue):
        many.log_steps([2, 3], {"train_loss": [0.1, 0.1]})


def test_many_steps_at_once_end_a_trial_that_diverged(tmp_path: Path) -> None:
    run, _ = handle(tmp_path)
    with pytest.raises(Diverged) as caught:
        run.log_steps([1, 2], {"valid_error": [0.5, math.nan]})
    assert caught.value.reason.facts["step"] == 2
