"""The handle of a training that nobody tunes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tunewright.pipeline.alone import Alone
from tunewright.pipeline.hosts import Host


def test_without_a_folder_nothing_is_saved() -> None:
    run = Alone(seed=1)
    assert list(run.steps(3)) == [1, 2, 3]
    assert run.restored is None and run.folder is None
    assert not any(run.save_due(step) for step in range(1, 4))
    run.save({"x": 1})
    run.log(1, loss=np.float32(0.5))
    run.log(1, {"other/name": 2})
    assert run.curves == {"loss": [(1, 0.5)], "other/name": [(1, 2.0)]}


def test_due_is_a_function_of_the_step() -> None:
    run = Alone("unused")
    run.steps(1000).__next__()
    assert [s for s in range(1, 1001) if run.eval_due(s)] == list(range(10, 1001, 10))
    assert [s for s in range(1, 1001) if run.save_due(s)] == list(range(100, 1001, 100))
    odd = Alone("unused", evaluations=4, saves=2)
    odd.steps(7).__next__()
    assert [s for s in range(1, 8) if odd.eval_due(s)] == [1, 2, 3, 4, 5, 6, 7]
    assert [s for s in range(1, 8) if odd.save_due(s)] == [3, 6, 7]


def test_it_goes_on_from_its_folder(tmp_path: Path) -> None:
    first = Alone(tmp_path)
    for step in first.steps(10):
        first.log(step, loss=1.0 / step)
        if step == 4:
            first.save({"weights": np.arange(3)})
            break
    second = Alone(tmp_path)
    assert (second.start_step, second.attempt) == (4, 2)
    assert second.restored["weights"].tolist() == [0, 1, 2]
    assert list(second.steps(6)) == [5, 6]
    assert second.curves["loss"] == first.curves["loss"]


def test_only_rank_0_writes(tmp_path: Path) -> None:
    other = Alone(tmp_path, host=Host(rank=1, world=2))
    next(other.steps(10))
    other.save({"x": 1})
    assert not list(tmp_path.iterdir())


def test_it_says_how_it_goes() -> None:
    lines: list[str] = []
    run = Alone(say=lines.append)
    next(run.steps(50))
    run.log(1, loss=0.123456)
    run.tell(1)
    run.log(2, loss=0.1)
    run.log(2, valid_error=0.5)
    run.log(1, old=1.0)
    run.tell(2)
    assert lines == ["step 1 of 50  loss 0.1235", "step 2 of 50  loss 0.1  valid_error 0.5"]
    quiet = Alone(say=lines.append, host=Host(rank=1, world=2))
    quiet.tell(3)
    assert len(lines) == 2
