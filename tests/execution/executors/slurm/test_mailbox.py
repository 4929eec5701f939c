"""Events through a file that grows, whole and in pieces."""

from __future__ import annotations

from pathlib import Path

from tunewright.execution.executors.executor import Began, Ended, Event, Logged
from tunewright.execution.executors.slurm.mailbox import Inbox, Outbox
from tunewright.messages import Message
from tunewright.store.outcome import Outcome

EVENTS: list[Event] = [
    Began(1, 2, 0, "node", ("0",)),
    Logged(1, 2, b"\x00points"),
    Ended(
        1,
        2,
        Outcome(
            "failed", Message("trial.raised", {"type": "E", "text": "x"}), "trace", seconds=1.5
        ),
    ),
]


def test_what_is_written_is_read_once_and_in_order(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "events")
    assert list(inbox.new()) == []
    outbox = Outbox(tmp_path / "events")
    for event in EVENTS:
        outbox.append(event)
    outbox.close()
    assert list(inbox.new()) == EVENTS
    assert list(inbox.new()) == []


def test_half_a_message_waits_for_its_rest(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "whole")
    outbox.append(EVENTS[2])
    outbox.close()
    data = (tmp_path / "whole").read_bytes()
    (tmp_path / "part").write_bytes(data[:9])
    inbox = Inbox(tmp_path / "part")
    assert list(inbox.new()) == []
    (tmp_path / "part").write_bytes(data)
    assert list(inbox.new()) == [EVENTS[2]]
