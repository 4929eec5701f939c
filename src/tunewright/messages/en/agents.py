"""Sentences about the instructions for coding agents."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "agents.installed": "{did}: {path}",
    "agents.ask": "change {path}?",
    "agents.no_folder": "{folder} is no folder",
    "agents.would_change": (
        "{path} is there and would change. A user confirms it at a terminal, or a script adds --yes"
    ),
    "agents.unreadable": "{path} cannot be read: {reason}",
}
