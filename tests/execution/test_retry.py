"""What may pass is tried again for ten minutes, what is final is raised at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tunewright.errors import Damaged, NotFound, OutOfDate, StoreError
from tunewright.execution import retry as patience
from tunewright.execution.retry import FINAL, LONGEST_PAUSE_S, PATIENCE_S, from_server, persist


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(patience, "time", clock)
    return clock


def failing(times, error=StoreError):
    left = [times]

    def use():
        if left[0]:
            left[0] -= 1
            raise error("the server is restarting.")
        return "answer"

    return use


def test_it_tries_again_with_growing_pauses(clock):
    told = []
    assert persist(failing(8), told.append) == "answer"
    assert clock.slept[:4] == [0.2, 0.4, 0.8, 1.6]
    assert max(clock.slept) == LONGEST_PAUSE_S
    assert len(told) == 8 and "restarting. Trying again in 0.2 s." in told[0]


def test_it_gives_up_after_ten_minutes(clock):
    with pytest.raises(StoreError, match="10 min in vain: the server"):
        persist(failing(10**6), lambda said: None)
    assert PATIENCE_S < clock.now < PATIENCE_S + 2 * LONGEST_PAUSE_S


@pytest.mark.parametrize("error", [OutOfDate, NotFound, Damaged])
def test_what_is_final_is_raised_at_once(clock, error):
    assert error in FINAL
    with pytest.raises(error):
        persist(failing(1, error), lambda said: None)
    assert clock.slept == []


def test_a_file_does_not_come_back_by_waiting(clock, tmp_path):
    with pytest.raises(StoreError, match="restarting"):
        from_server(SimpleNamespace(path=tmp_path), failing(1), lambda said: None)
    assert clock.slept == []
    assert from_server(SimpleNamespace(path=None), failing(1), lambda said: None) == "answer"
