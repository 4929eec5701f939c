"""The handle and the output of trials that share a process."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.execution.driving import OBJECTIVE, assignment

from tunewright.design.names import Meaning
from tunewright.execution.executors.packed_lane import Unpackable
from tunewright.execution.executors.packed_worker import NO_LOOP, LaneRun, Printed


class Lane:
    """Notes what it is asked."""

    entered = logged = False

    def refuse(self, reason: str) -> None:
        raise Unpackable(reason)


def made(folder: Path) -> tuple[LaneRun, list[Any]]:
    told: list[Any] = []
    run = LaneRun(assignment(folder), OBJECTIVE, Meaning({}), told.append)
    run.lane = Lane()  # type: ignore[assignment]
    return run, told


@pytest.mark.parametrize(
    "call", [lambda r: r.steps(3), lambda r: r.log(1, a=1.0), lambda r: r.save({}, 1)]
)
def test_a_loop_that_is_not_captured_leaves_at_its_first_call(call, tmp_path: Path) -> None:
    run, told = made(tmp_path)
    with pytest.raises(Unpackable) as caught:
        call(run)
    assert caught.value.args == (NO_LOOP,) and told == []


def test_fit_may_use_the_handle(tmp_path: Path) -> None:
    run, _ = made(tmp_path)
    run.lane.entered = True
    assert list(run.steps(3)) == [1, 2, 3]
    run.log(3, valid_error=0.5)
    assert run.lane.logged


def test_what_a_thread_prints_goes_to_its_trial() -> None:
    class Worker:
        def __init__(self) -> None:
            self.mine, self.of_trial = threading.current_thread(), io.StringIO()

        def printed(self, text: str) -> bool:
            if threading.current_thread() is self.mine:
                return False
            return bool(self.of_trial.write(text))

    worker, process = Worker(), io.StringIO()
    out = Printed(worker, process)  # type: ignore[arg-type]
    thread = threading.Thread(target=lambda: print("from the trial", file=out))
    thread.start()
    thread.join()
    print("from the process", file=out)
    assert worker.of_trial.getvalue() == "from the trial\n"
    assert process.getvalue() == "from the process\n"
