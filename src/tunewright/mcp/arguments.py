"""The arguments of tools: what each takes, and refusals of what it does not, with codes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tunewright.errors import Misuse

LARGEST = 64_000  # bytes of all arguments of a call
_LONGEST_TEXT = 2000
LARGEST_TABLE = 20_000  # bytes of one table
_DEEPEST = 8
MOST = 1_000_000  # of anything that is counted
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}")
Kind = Literal["name", "text", "table", "count", "hours", "flag", "path", "choice"]
_JSON: Mapping[Kind, Mapping[str, Any]] = {
    "name": {"type": "string", "maxLength": 100},
    "text": {"type": "string", "maxLength": _LONGEST_TEXT},
    "table": {"type": "object"},
    "count": {"type": "integer", "minimum": 0},
    "hours": {"type": "number", "exclusiveMinimum": 0},
    "flag": {"type": "boolean"},
    "path": {"type": "string"},
    "choice": {"type": "string"},
}


@dataclass(frozen=True)
class Argument:
    """One argument of a tool."""

    name: str
    kind: Kind
    about: str  # for the schema that agents read
    needed: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """The argument in the words of JSON Schema."""
        more = {"enum": list(self.choices)} if self.choices else {}
        return {**_JSON[self.kind], **more, "description": self.about}


def schema_of(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in arguments},
        "required": [argument.name for argument in arguments if argument.needed],
        "additionalProperties": False,
    }


def check_arguments(
    tool: str, arguments: tuple[Argument, ...], given: Any, folder: Path
) -> dict[str, Any]:
    """The arguments of a call, each of its kind; anything else is refused with a code."""
    if not isinstance(given, Mapping):
        raise Misuse("mcp.wrong_type", tool=tool, name="arguments", kind="table")
    try:
        size = len(json.dumps(given).encode())
    except (TypeError, ValueError, RecursionError):
        raise Misuse("mcp.wrong_type", tool=tool, name="arguments", kind="table") from None
    if size > LARGEST:
        raise Misuse("mcp.too_large", tool=tool, name="arguments", bytes=size, most=LARGEST)
    known = {argument.name: argument for argument in arguments}
    for name in given:
        if name not in known:
            label = str(name)[:60]
            raise Misuse("mcp.unknown_argument", tool=tool, name=label, known=list(known))
    values = {}
    for argument in arguments:
        value = given.get(argument.name)
        if value is None:
            if argument.needed:
                raise Misuse("mcp.missing_argument", tool=tool, name=argument.name)
            continue
        values[argument.name] = _value_of(tool, argument, value, folder)
    return values


def _value_of(tool: str, argument: Argument, value: Any, folder: Path) -> Any:
    wrong = Misuse("mcp.wrong_type", tool=tool, name=argument.name, kind=argument.kind)
    if argument.kind == "flag":
        if not isinstance(value, bool):
            raise wrong
    elif argument.kind == "count":
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong
        if not 0 <= value <= MOST:
            raise Misuse("mcp.too_large", tool=tool, name=argument.name, bytes=None, most=MOST)
    elif argument.kind == "hours":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong
        if not (math.isfinite(value) and 0 < value <= MOST):
            raise wrong
    elif argument.kind == "table":
        if not isinstance(value, Mapping):
            raise wrong
        size = len(json.dumps(value).encode())
        if size > LARGEST_TABLE or _depth(value) > _DEEPEST:
            raise Misuse(
                "mcp.too_large", tool=tool, name=argument.name, bytes=size, most=LARGEST_TABLE
            )
    else:
        return _text(tool, argument, value, folder)
    return value


def _text(tool: str, argument: Argument, value: Any, folder: Path) -> Any:
    if not isinstance(value, str):
        raise Misuse("mcp.wrong_type", tool=tool, name=argument.name, kind=argument.kind)
    if len(value) > _LONGEST_TEXT:
        size = len(value)
        raise Misuse("mcp.too_large", tool=tool, name=argument.name, bytes=size, most=_LONGEST_TEXT)
    if argument.kind == "text" and not _written(value):
        raise Misuse("mcp.bad_text", tool=tool, name=argument.name)
    if argument.kind == "name" and (not _NAME.fullmatch(value) or ".." in value):
        raise Misuse("mcp.bad_name", tool=tool, name=argument.name, shown=value[:60])
    if argument.kind == "choice" and value not in argument.choices:
        raise Misuse("mcp.bad_choice", tool=tool, name=argument.name, known=list(argument.choices))
    if argument.kind == "path":
        return inside(tool, argument.name, value, folder)
    return value


def _written(value: str) -> bool:
    """Whether a text has nothing but characters, line ends and tabs: no NUL, no lone surrogate."""
    return all(c in "\n\t" or c.isprintable() for c in value)


def inside(tool: str, name: str, value: str, folder: Path) -> Path:
    """A path of the project, links followed; anything outside it is refused."""
    refusal = Misuse("mcp.outside_project", tool=tool, name=name, shown=value[:60])
    if not value or "\0" in value or not value.isprintable():
        raise refusal
    try:
        path = (folder / value).resolve()
    except (OSError, RuntimeError, ValueError):
        raise refusal from None
    if not path.is_relative_to(folder.resolve()):
        raise refusal
    return path


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_depth(part) for part in value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max((_depth(part) for part in value), default=0)
    return 0
