"""Events through the pipe: every kind arrives as it was sent, whichever process sends it."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from tunewright.execution.executors.executor import (
    Applied,
    Began,
    Ended,
    Event,
    Logged,
    Noted,
    Saved,
    Stepped,
)
from tunewright.execution.processes.frames import as_event, as_frame
from tunewright.messages import Message
from tunewright.store.outcome import Outcome

DEVICES = ("0",)
EVENTS: list[Event] = [
    Began(7, 2, 40, "host pid 3", DEVICES),
    Logged(7, 2, b"points"),
    Saved(7, 2, 400, "snapshot.400", "abc"),
    Stepped(7, 2, 400, None),
    Noted(7, 2, Message("stopped.asked")),
    Applied(7, 2, {"learning_rate": 0.1}),
    Ended(7, 2, Outcome("died", Message("stopped.asked"), "at line 3", seconds=2.5)),
]


def test_every_kind_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_arrives_as_it_was_sent(event: Event) -> None:
    head, body = as_frame(event)
    assert as_event(json.loads(json.dumps(head)), body) == event


def test_other_frames_are_no_events() -> None:
    assert as_event({"kind": "printed"}, b"hello") is None
