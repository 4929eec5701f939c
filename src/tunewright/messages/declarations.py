"""What a workload declares, as a line of tunewright.toml for readers at a shell.

Advice carries a declaration as facts and renders it for its reader. Errors and probes still spell
it in Python inside a sentence; `in_project_file` rewrites those for a shell until they carry facts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_CALL = re.compile(r"Workload\((?:\.\.\., )?((?:means|off)=\{[^{}]*\})\)")
_ENTRY = re.compile(r'\b(means|off)=\{"(\w+)": ([^{}]*)\}')


def as_setting(table: str, name: str, value: Any = None) -> str:
    """A declaration as the project's file writes it.

    >>> as_setting("means", "train_loss", "train/loss")
    'train_loss = "train/loss" under [workload.means] in tunewright.toml'
    """
    return f"{name} = {_value(value)} under [workload.{table}] in tunewright.toml"


def in_project_file(text: str) -> str:
    """A sentence of an error or a probe, with its declarations as lines of the project's file.

    >>> in_project_file('say so: means={"train_loss": "train/loss"}.')
    'say so: train_loss = "train/loss" under [workload.means] in tunewright.toml.'
    >>> in_project_file('Workload(..., means={"chance": ...}): the loss of a guess')
    'chance = ... under [workload.means] in tunewright.toml: the loss of a guess'
    """
    return _ENTRY.sub(r"\2 = \3 under [workload.\1] in tunewright.toml", _CALL.sub(r"\1", text))


def _value(value: Any) -> str:
    if value is None:
        return "..."
    if isinstance(value, Sequence) and not value:
        return "[...]"
    return json.dumps(value, ensure_ascii=False)
