"""Values that a program reports it used, as plain data: numbers, text, truth values, lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tunewright.errors import WorkloadError
from tunewright.store.plain_json import storable

MOST_VALUES = 1_000  # of one report; further ones are dropped, since a configuration is shorter
_LONGEST_TEXT = 200  # characters of one value or name


def plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A report as plain data; nested settings get names with dots.

    >>> plain_values({"lr": 0.1, "optim": {"name": "adam"}, "betas": (0.9, float("inf"))})
    {'lr': 0.1, 'optim.name': 'adam', 'betas': [0.9, 'inf']}
    """
    if not isinstance(values, Mapping):
        raise WorkloadError("applied.not_a_mapping", value=values)
    return dict(_flat(values, "")[:MOST_VALUES])


def _flat(values: Mapping[Any, Any], before: str) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in values.items():
        full = f"{before}{name}"
        if isinstance(value, Mapping) and value:
            flat += _flat(value, f"{full}.")
        else:
            flat.append((storable(full, _LONGEST_TEXT), _plain(value)))
    return flat


def _plain(value: Any) -> Any:
    """One value; what has no plain form is its text, since it is there to be compared and read."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return storable(value, _LONGEST_TEXT)
    if isinstance(value, list | tuple) and len(value) <= MOST_VALUES:
        return [_plain(one) for one in value]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # NumPy, torch, JAX
        return _plain(value.item())
    try:
        return storable(str(value), _LONGEST_TEXT)
    except Exception:  # a __str__ that raises
        return type(value).__name__
