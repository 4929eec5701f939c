from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tunewright.execution.executors.executor import Ended, Event, Logged
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.testing import check_executor


@pytest.mark.beyond_core
@pytest.mark.parametrize("make", [Inline, lambda: Local(workers=2, devices=[])], ids=["I", "L"])
def test_our_executors_keep_the_contract(make: Callable) -> None:
    check_executor(make())


class Wrapped:
    """Inline with its events changed on the way."""

    def __init__(self, change: Callable[[list[Event]], list[Event]], slots: int = 1) -> None:
        self.inner, self.change, self.slots = Inline(), change, slots

    def start(self, workload, assignments):
        self.inner.start(workload, assignments)

    def events(self, timeout_s):
        return self.change(self.inner.events(timeout_s))

    def stop(self, trial, grace_s):
        self.inner.stop(trial, grace_s)

    def close(self):
        self.inner.close()


def with_end(**changes: Any) -> Callable[[list[Event]], list[Event]]:
    def changed(event: Event) -> Event:
        if not isinstance(event, Ended):
            return event
        return dataclasses.replace(event, outcome=dataclasses.replace(event.outcome, **changes))

    return lambda events: [changed(event) for event in events]


@pytest.mark.parametrize(
    "change, said",
    [
        (with_end(status="completed"), "says infeasible: it is reported as completed"),
        (lambda events: events[1:], "completed: the first event is"),
        (lambda events: [e for e in events if not isinstance(e, Logged)], "nothing of its curve"),
        (lambda events: [*events, *events[-1:]], "after the attempt had ended"),
        (
            lambda events: [dataclasses.replace(e, attempt=9) for e in events],
            "an event of an attempt that is not under way",
        ),
        (lambda events: tuple(events) if events else [], "events() gives tuple, not a list"),
        (with_end(reason=None, detail=""), "says infeasible: cause None"),
    ],
)
def test_what_is_wrong_is_said(change, said: str) -> None:
    with pytest.raises(AssertionError) as broken:
        check_executor(Wrapped(change))
    assert said in str(broken.value)


def test_silence_and_odd_executors() -> None:
    with pytest.raises(AssertionError, match=r"after 0\.5 s the end of trials"):
        check_executor(Wrapped(lambda events: []), patience_s=0.5)
    with pytest.raises(AssertionError, match="slots is 0, not at least 1"):
        check_executor(Wrapped(lambda events: events, slots=0))
    with pytest.raises(AssertionError, match="lacks slots, start"):
        check_executor(object())
