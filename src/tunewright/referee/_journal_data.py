"""What the lines of a lineage's journal mean: a command, a decision, a quoted total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.execution.command import Command, command as as_command
from tunewright.messages import Message
from tunewright.referee.answers import Cost, Decision, Quote


def command_from(data: Mapping[str, Any]) -> Command:
    """The command of a lineage's first line."""
    from tunewright.execution.growing_file import GrowingFile

    file = None if data["file"] is None else GrowingFile(**data["file"])
    read: Sequence[str] = data["read"]
    return as_command(
        data["template"],
        booleans=data["booleans"],
        defaults=data["defaults"],
        read=tuple(read),
        file=file,
    )


def decision_from(data: Mapping[str, Any]) -> Decision:
    """A decision, as its line has it."""
    why = dict(data["why"])
    return Decision(
        **{
            **data,
            "why": Message(why.pop("code"), why),
            "interval": tuple(data["interval"]),
            "values": tuple(data["values"]),
            "cost": Cost(**data["cost"]),
        }
    )


def quote_from(data: Mapping[str, Any]) -> Quote:
    """A quoted total, as its line has it."""
    listed = ("interval", "first_values", "current_values")
    return Quote(**{**data, **{name: tuple(data[name]) for name in listed}})
