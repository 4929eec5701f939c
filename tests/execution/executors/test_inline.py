"""Training in this process: in order, one at a time, stoppable from a signal handler."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest
from tests.execution import misbehaving as bad
from tests.execution.driving import OBJECTIVE, assignment, drive

from tunewright.execution.executors.executor import Ended, Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.training_run import Run
from tunewright.execution.workload import Workload


def test_it_is_an_executor_with_one_slot() -> None:
    assert isinstance(Inline(), Executor)
    assert Inline().slots == 1
    assert Inline() == Inline()
    assert repr(Inline()) == "Inline()"


def test_it_trains_here_and_in_order(tmp_path: Path) -> None:
    here = []

    def train(run: Run, x: int) -> None:
        here.append((x, threading.current_thread()))
        run.log(1, valid_error=float(x))

    told = drive(Inline(), train, tmp_path, [{"x": 1}, {"x": 2}])
    assert here == [(1, threading.main_thread()), (2, threading.main_thread())]
    assert [each.curves["valid_error"].values[0] for each in told] == [1.0, 2.0]
    assert all(each.end.seconds >= 0 for each in told)


def test_a_signal_handler_can_stop_it(tmp_path: Path) -> None:
    executor = Inline()
    old = signal.signal(signal.SIGALRM, lambda *_: executor.stop(100, 0.0))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        (told,) = drive(executor, bad.trains_until_stopped, tmp_path, [{}])
    finally:
        signal.signal(signal.SIGALRM, old)
    assert told.end.status == "stopped"
    assert told.saved[-1].step == told.curves["valid_error"].steps[-1]


def test_waiting_trials_can_be_stopped_and_forgotten(tmp_path: Path) -> None:
    executor = Inline()
    workload = Workload(bad.fine, OBJECTIVE)
    executor.stop(100, 1.0)  # nothing is there yet: nothing to remember
    executor.start(workload, [assignment(tmp_path / str(n), number=n) for n in range(3)])
    executor.stop(101, 1.0)
    ends = [event for _ in range(2) for event in executor.events(0) if isinstance(event, Ended)]
    assert [end.outcome.status for end in ends] == ["completed", "stopped"]
    executor.close()
    before = time.monotonic()
    assert executor.events(0.05) == []
    assert time.monotonic() - before >= 0.05


def test_ctrl_c_reaches_the_caller(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        raise KeyboardInterrupt

    executor = Inline()
    executor.start(Workload(train, OBJECTIVE), [assignment(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        executor.events(0)
    assert executor.events(0) == []
