"""Typed facts as plain data: what `--json` prints and the database stores, without any words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any


class Facts:
    """A frozen data class with `to_data()`: every field as plain data."""

    def to_data(self) -> dict[str, Any]:
        """The fields as plain data: mappings, lists, text and numbers."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Plain data of a value: what has `to_data` gives it, data classes and tuples are unfolded.

    >>> plain({"runs": (3, 3), "day": date(2026, 5, 1)})
    {'runs': [3, 3], 'day': '2026-05-01'}
    """
    if hasattr(value, "to_data") and not isinstance(value, type):
        return plain(value.to_data())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    return value.tolist() if hasattr(value, "tolist") else value


class _AsText(str):
    """An object as an error shows it: its text, with the object's own repr."""

    text: str = ""

    def __repr__(self) -> str:
        """The repr that the object had."""
        return self.text


def as_fact(value: Any) -> Any:
    """A value as a fact of an error: plain data stays, anything else becomes the text it shows.

    An error outlives what it is about, crosses pipes and is printed as JSON, so it holds no object.

    >>> as_fact(("adam", 1e-3, None)), as_fact({1: PurePath("a")}), as_fact(complex)
    (('adam', 0.001, None), {1: 'a'}, <class 'complex'>)
    """
    if value is None or isinstance(value, bool | _AsText):
        return value
    if isinstance(value, str | PurePath | BaseException):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if type(value) in (list, tuple):
        return type(value)(as_fact(item) for item in value)
    if isinstance(value, Mapping):
        return {as_fact(key): as_fact(item) for key, item in value.items()}
    text = _AsText(value)
    text.text = repr(value)
    return text
