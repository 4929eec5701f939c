"""How long running trials may still take, said as a range."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tunewright.design.objective import minimize
from tunewright.execution.progress import Progress
from tunewright.progress.watcher import Silent
from tunewright.store.outcome import Outcome


@pytest.fixture
def progress():
    record = SimpleNamespace(counts={}, objective=minimize("valid_error"), name="r")
    return Progress(SimpleNamespace(), record, Silent())


def tell(progress, seconds, status="completed"):
    progress.ends(SimpleNamespace(), Outcome(status, seconds=seconds), running=0)


def test_nothing_is_known_before_the_first_end(progress):
    assert progress.time_left([3.0]) == ""
    tell(progress, 5.0, "failed")
    assert progress.time_left([3.0]) == ""


def test_the_range_is_that_of_the_youngest(progress):
    for seconds in (60.0, 80.0, 100.0):
        tell(progress, seconds)
    assert progress.time_left([10.0, 50.0]) == "60 s to 80 s left"
    assert progress.time_left([500.0]) == "0 s to 0 s left"


def test_hopeless_counts_ends_of_this_call_alone(progress):
    for _ in range(4):
        tell(progress, 1.0, "failed")
    tell(progress, 1.0, "stopped")
    assert not progress.hopeless(5)
    tell(progress, 1.0, "failed")
    assert progress.hopeless(5)
    tell(progress, 1.0, "infeasible")
    assert not progress.hopeless(5), "infeasible trials are data, not errors"
