"""What a workload declares, in Python and as a line of tunewright.toml."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

TABLES = ("means", "off")  # of the workload; `workload` itself holds single settings


def as_setting(table: str, name: str, value: Any = None) -> str:
    """A declaration as the project's file writes it.

    >>> as_setting("means", "train_loss", "train/loss")
    'train_loss = "train/loss" under [workload.means] in tunewright.toml'
    >>> as_setting("workload", "deterministic", True)
    'deterministic = true under [workload] in tunewright.toml'
    """
    where = f"workload.{table}" if table in TABLES else table
    return f"{name} = {_value(value)} under [{where}] in tunewright.toml"


def as_argument(table: str, name: str, value: Any = None) -> str:
    """The same as Python writes it, an argument of `tw.Workload`.

    >>> as_argument("means", "train_loss", "train/loss"), as_argument("off", "schedule")
    ('means={"train_loss": "train/loss"}', 'off={"schedule": ...}')
    >>> as_argument("workload", "deterministic", True)
    'deterministic=True'
    """
    shown = str(value) if isinstance(value, bool) else _value(value)
    return f'{table}={{"{name}": {shown}}}' if table in TABLES else f"{name}={shown}"


def read_value(text: str) -> Any:
    """The value that a format field writes: JSON, or else a text; None for an empty one.

    >>> [read_value(text) for text in ("true", "0.0", "constant", "")]
    [True, 0.0, 'constant', None]
    """
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _value(value: Any) -> str:
    if value is None:
        return "..."
    if isinstance(value, Sequence) and not value:
        return "[...]"
    return json.dumps(value, ensure_ascii=False)
