"""Ctrl-C and SIGTERM while training runs in this very process."""

from __future__ import annotations

import logging
import signal

import pytest
from tests.execution.watching import Kept

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import load, run, supervise
from tunewright.execution.workload import Workload
from tunewright.messages import Message

ROUND = Round("r", goal="?", nuisance={"x": log(0.1, 1.0)}, trials_per_study=4)
STEPS = 10


def training(*signals):
    """A training function whose trial 1 gets these signals at step 5 of its first attempt."""

    def train(run, x):
        made = run.restored or 0
        for step in run.steps(STEPS):
            made += 1
            run.log(step, valid_error=1.0 / made)
            if (run.number, run.attempt, step) == (1, 1, 5):
                for number in signals:
                    signal.raise_signal(number)
            if run.save_due(step):
                run.save(made)

    return train


@pytest.fixture
def workload(tmp_path):
    def make(*signals):
        train = training(*signals)
        store = tmp_path / "tuning.db"
        return Workload(train, minimize("valid_error"), store=store, executor=Inline())

    return make


@pytest.fixture(autouse=True)
def handlers_come_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_one_ctrl_c_lets_the_running_trial_finish_and_returns(workload, caplog):
    with caplog.at_level(logging.WARNING):
        results = run(ROUND, workload(signal.SIGINT))
    assert results.counts == {"completed": 2, "pending": 2}
    assert results.trial(1).value == 1.0 / STEPS
    assert "interrupted" in caplog.text
    assert run(ROUND, workload()).counts == {"completed": 4}


def test_the_watcher_hears_of_it(workload):
    watch = Kept()
    supervise(ROUND, workload(signal.SIGINT), watch=watch)
    assert watch.all("message")[-1] == "no new trials; nothing runs"
    assert watch.summary.why == "interrupted"


@pytest.mark.parametrize(
    "signals, raised",
    [((signal.SIGINT, signal.SIGINT), KeyboardInterrupt), ((signal.SIGTERM,), SystemExit)],
    ids=["twice", "SIGTERM"],
)
def test_twice_or_sigterm_saves_the_trial_for_later(workload, signals, raised):
    with pytest.raises(raised) as ended:
        run(ROUND, workload(*signals))
    if raised is SystemExit:
        assert ended.value.code == 143
    results = load(workload().store, "r")
    assert results.counts == {"completed": 1, "pending": 3}
    assert results.trial(1).reason == Message("stopped.after_saving", {"step": 5})
    again = run(ROUND, workload())
    assert again.counts == {"completed": 4}
    trial = again.trial(1)
    assert (trial.attempts, trial.value) == (2, 1.0 / STEPS)
    assert trial.curves["valid_error"].steps.tolist() == list(range(1, STEPS + 1))


def test_supervise_never_raises_a_signal(workload):
    watch = Kept()
    results = supervise(ROUND, workload(signal.SIGTERM), watch=watch)
    assert results.counts == {"completed": 1, "pending": 3}
    assert watch.summary.why == "terminated"


def test_three_times_is_at_once(workload):
    watch = Kept()
    with pytest.raises(KeyboardInterrupt):
        supervise(ROUND, workload(*[signal.SIGINT] * 3), watch=watch)
    assert watch.summary.why == "interrupted"
    assert load(workload().store, "r").counts == {"completed": 1, "pending": 3}
    assert run(ROUND, workload()).counts == {"completed": 4}
