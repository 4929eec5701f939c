"""Sentences of the referee: decisions about changes, and errors raised in `referee`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {}
ACTIONS: dict[str, Template] = {}
