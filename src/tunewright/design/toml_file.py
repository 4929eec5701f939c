"""TOML files: read with the file named in every problem, written without losing a digit."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message

_BARE = re.compile(r"[A-Za-z0-9_-]+")
LARGEST = 1_000_000  # bytes of a round or workload file
LONGEST_VALUE = 1000  # characters that are read as a number or quoted text
DEEPEST = 32  # parts of a dotted key: the parser takes gigabytes for thousands of them
_DEEP_KEY = re.compile(rf"^[\s\[]*(?:[^\s.=#]+\s*\.\s*){{{DEEPEST},}}", re.MULTILINE)


def read_toml(path: Path, how: Message | None = None) -> dict[str, Any]:
    """The tables of a file; `how` explains how to make a missing one."""
    try:
        if path.stat().st_size > LARGEST:
            raise DesignError("file.too_large", path=path, largest=LARGEST)
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows write a byte-order mark
        if _DEEP_KEY.search(text):
            raise DesignError("file.deep_key", path=path, deepest=DEEPEST)
        return tomllib.loads(text)
    except FileNotFoundError:
        there = sorted(other.stem for other in path.parent.glob(f"*{path.suffix}"))
        near = difflib.get_close_matches(path.stem, there, n=1)
        nearest = str(path.with_stem(near[0])) if near else None
        made = None if how is None else how.to_data()
        raise NotFound("file.missing", path=path, near=nearest, how=made) from None
    except OSError as error:
        raise NotFound("file.cannot_be_read", path=path, reason=error.strerror) from None
    except DesignError:
        raise
    except UnicodeDecodeError as error:
        raise DesignError("file.not_utf8", path=path, byte=error.start) from None
    except ValueError as error:  # of TOML, or a number with thousands of digits
        raise DesignError("file.not_toml", path=path, error=error) from None
    except RecursionError:
        raise DesignError("file.too_deep", path=path) from None


def read_value(text: str) -> Any:
    """A value as a round file has it; a bare word is text, as shells and templates write it.

    >>> [read_value(text) for text in ("1e-3", "true", "True", '"true"', "adam", "null")]
    [0.001, True, 'True', 'true', 'adam', None]
    """
    if text == "null" or not text.isprintable() or len(text) > LONGEST_VALUE:
        return None if text == "null" else text
    try:
        found = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    value = found.pop("value")
    if value == {"none": True}:
        return None
    plain = isinstance(value, bool | int | float | str) and not found
    return value if plain else text


def unknown_key(key: Any, known: Sequence[str], of: str) -> Message:
    """The problem of an unknown key, with the nearest right one; `of` is file, round or workload.

    >>> str(unknown_key("minimise", ["minimize", "maximize"], "workload"))
    "minimise: not a key of [workload]. Did you mean 'minimize'?"
    """
    near = difflib.get_close_matches(str(key), known, n=1)
    facts = {"key": str(key), "of": of, "near": near[0] if near else None}
    return Message("file.unknown_key", {**facts, "known": list(known)})


def toml_value(value: Any) -> str:
    """Any plain value on one line; None is written as a table.

    >>> toml_value({"log": [0.0001, 0.1]}), toml_value([None, "relu"])
    ('{ log = [0.0001, 0.1] }', '[{ none = true }, "relu"]')
    """
    if value is None:
        return "{ none = true }"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(toml_value(v) for v in value)}]"


def toml_key(key: str) -> str:
    """A key, quoted where TOML wants it."""
    return key if _BARE.fullmatch(key) else toml_value(key)


def toml_lines(title: str, table: Mapping[str, Any]) -> Iterator[str]:
    """A table and, below it, the tables of its givens.

    Pairs have no table form, and stand before all tables: where there are any, all givens are
    written on one line, since the order of givens counts.
    """
    yield f"[{title}]"
    givens = {n: v["given"] for n, v in table.items() if isinstance(v, Mapping) and "given" in v}
    if not all(isinstance(branches, Mapping) for branches in givens.values()):
        givens = {}
    for name, value in table.items():
        if name not in givens:
            yield f"{toml_key(name)} = {toml_value(value)}"
    for name, branches in givens.items():
        for branch, children in branches.items():
            yield ""
            yield from toml_lines(f"{title}.{toml_key(name)}.given.{toml_key(branch)}", children)
