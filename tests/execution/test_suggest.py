"""While a search thinks, work is done; what it raises is raised."""

from __future__ import annotations

import threading

import pytest

from tunewright.execution.suggest import meanwhile


def test_work_is_done_until_the_answer_is_there() -> None:
    enough, done = threading.Event(), []

    def work() -> None:
        done.append(threading.current_thread())
        if len(done) == 3:
            enough.set()

    def think() -> threading.Thread:
        assert enough.wait(30)
        return threading.current_thread()

    thinker = meanwhile(think, work)
    assert len(done) >= 3 and set(done) == {threading.current_thread()}
    assert thinker is not threading.current_thread()
    assert meanwhile(threading.current_thread, None) is threading.current_thread()


def test_what_it_raises_is_raised() -> None:
    for work in (None, lambda: None):
        with pytest.raises(ZeroDivisionError):
            meanwhile(lambda: 1 // 0, work)
