"""Reasons as the store keeps them: a message, its code and facts, as JSON text; empty for none."""

from __future__ import annotations

from tunewright.messages import Message
from tunewright.store import plain_json


def encode(reason: Message | None) -> str:
    """A message as the text of a column."""
    return "" if reason is None else plain_json.dumps(plain_json.finite(reason.to_data()))


def decode(text: str) -> Message | None:
    """The message that a column holds; None for an empty one."""
    if not text:
        return None
    data = plain_json.loads(text, "a reason of the store")
    return Message(data["code"], {name: fact for name, fact in data.items() if name != "code"})


def from_version_1(text: str) -> Message:
    """A reason of version 1, which was a sentence."""
    return Message("legacy", {"text": text})
