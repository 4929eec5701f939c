"""The events of an attempt as frames of the pipe between a training process and its pool.

One codec for every kind of worker process: an event that one of them sends, all of them send.
How an attempt ended travels as an outcome (`store/outcome.py`).
"""

from __future__ import annotations

from tunewright.execution.executors.executor import (
    Applied,
    Began,
    Event,
    Logged,
    Noted,
    Saved,
    Stepped,
)
from tunewright.execution.processes.frames import Head
from tunewright.store.outcome import decode, encode

Frame = tuple[Head, bytes]


def as_frame(event: Event) -> Frame | None:
    """The head and body that carry an event; None for one that is no frame of its kind (`Ended`).

    >>> as_frame(Stepped(7, 1, 400, 2000))
    ({'kind': 'step', 'step': 400, 'total': 2000}, b'')
    """
    match event:
        case Began():
            return {"kind": "began", "start": event.start_step, "at": event.worker}, b""
        case Logged():
            return {"kind": "logged"}, event.points
        case Saved():
            about = {"step": event.step, "path": event.path, "sha256": event.sha256}
            return {"kind": "saved", **about}, b""
        case Stepped():
            return {"kind": "step", "step": event.step, "total": event.total}, b""
        case Noted():
            return {"kind": "noted", "message": encode(event.message)}, b""
        case Applied():
            return {"kind": "applied", "values": event.values}, b""
    return None


def as_event(
    names: tuple[int, int], head: Head, body: bytes, devices: tuple[str, ...] = ()
) -> Event | None:
    """The event of a frame, about this trial and attempt; None for a frame of another kind.

    >>> as_event((7, 1), {"kind": "step", "step": 400, "total": 2000}, b"")
    Stepped(trial=7, attempt=1, step=400, total=2000)
    """
    match head["kind"]:
        case "began":
            return Began(*names, head["start"], head["at"], devices)
        case "logged":
            return Logged(*names, body)
        case "saved":
            return Saved(*names, head["step"], head["path"], head["sha256"])
        case "step":
            return Stepped(*names, head["step"], head["total"])
        case "noted" if (note := decode(head["message"])) is not None:
            return Noted(*names, note)
        case "applied":
            return Applied(*names, head["values"])
    return None
