"""Facts as plain JSON data: data classes field by field, null for NaN and infinities.

What has a `to_data` (findings, actions, messages) decides itself; words are never added here.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

from tunewright.design.round import Round
from tunewright.design.round_data import as_data

CURVES = "curves"  # the field that a trial has, by far the largest part of it


def plain(thing: Any, *, curves: bool = False) -> Any:
    """JSON data for anything a command answers; trials come without curves unless asked for.

    >>> plain({"value": float("nan"), "steps": (1, 2), "path": PurePath("a")})
    {'value': None, 'steps': [1, 2], 'path': 'a'}
    """
    if hasattr(thing, "to_data") and not isinstance(thing, type):
        return plain(thing.to_data(), curves=curves)  # facts, without words
    if isinstance(thing, Round):
        return plain(as_data(thing))  # the words of a round file, rather than ranges as classes
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        names = (f.name for f in dataclasses.fields(thing) if not f.name.startswith("_"))
        kept = (name for name in names if curves or name != CURVES)
        return {name: plain(getattr(thing, name), curves=curves) for name in kept}
    if isinstance(thing, Mapping):
        return {str(key): plain(value, curves=curves) for key, value in thing.items()}
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else None
    if thing is None or isinstance(thing, bool | int):
        return thing
    if isinstance(thing, str):
        return str(thing)
    if isinstance(thing, datetime | date):
        return thing.isoformat()
    if isinstance(thing, PurePath):
        return str(thing)
    if hasattr(thing, "tolist"):  # arrays, and scalars that came out of one
        return plain(thing.tolist())
    if isinstance(thing, list | tuple | set | frozenset):
        return [plain(item, curves=curves) for item in thing]
    return str(thing)


def as_json(thing: Any) -> str:
    """JSON text for a screen or a program; always valid, never NaN."""
    return json.dumps(plain(thing), indent=2, ensure_ascii=False, allow_nan=False)
