"""What the probes of a campaign have chosen: read off the answers that the store keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.design.ranges import Value

BATCH_SIZE, TRAIN_STEPS, REPAIR = "batch_size", "train_steps", "repair"
# in the order in which they are asked: how long to train depends on the batch size
SETTLING = (BATCH_SIZE, TRAIN_STEPS, REPAIR)

Answers = Sequence[Mapping[str, Any]]


def answer(answers: Answers, probe: str) -> Mapping[str, Any] | None:
    """The newest answer of a probe; None before there is one."""
    own = [one for one in answers if one.get("probe") == probe]
    return own[-1] if own else None


def message_of(one: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An answer as a message's data; a store of version 1 has its text. None for single rows."""
    if "message" in one:
        return dict(one["message"])
    return {"code": "legacy", "text": one["says"]} if one.get("says") else None


def settled(answers: Answers) -> dict[str, Value]:
    """Every value that a probe chose.

    >>> settled([{"probe": "batch_size", "settings": {"batch_size": 256}}, {"probe": "clip"}])
    {'batch_size': 256}
    """
    found: dict[str, Value] = {}
    for probe in SETTLING:
        found |= dict((answer(answers, probe) or {}).get("settings") or {})
    return found
