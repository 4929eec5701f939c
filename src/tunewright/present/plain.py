"""Records as plain JSON: the data classes as they are, and null for what is no finite number."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

from tunewright.design.round import Round
from tunewright.design.round_file import as_data


def plain(thing: Any) -> Any:
    """JSON data for anything a reading command shows.

    >>> plain({"value": float("nan"), "steps": (1, 2)})
    {'value': None, 'steps': [1, 2]}
    """
    if hasattr(thing, "to_data") and not isinstance(thing, type):
        return plain(thing.to_data())  # facts, without words
    if isinstance(thing, Round):
        return plain(as_data(thing))  # the words of a round file, rather than ranges as classes
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = (f.name for f in dataclasses.fields(thing) if not f.name.startswith("_"))
        return {name: plain(getattr(thing, name)) for name in fields}
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else None
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, datetime | date):
        return thing.isoformat()
    if isinstance(thing, PurePath):
        return str(thing)
    if hasattr(thing, "tolist"):  # arrays, and scalars that came out of one
        return plain(thing.tolist())
    if isinstance(thing, list | tuple | set | frozenset):
        return [plain(item) for item in thing]
    return str(thing)


def as_json(thing: Any) -> str:
    """JSON text for a screen or a program; always valid, never NaN."""
    return json.dumps(plain(thing), indent=2, ensure_ascii=False, allow_nan=False)
