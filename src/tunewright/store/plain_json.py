"""JSON and free text in and out of the store, with limits: nothing read from disk is executed."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import Damaged, StoreError

LONGEST_FIELD = 16 * 2**20  # characters of one JSON field of the database
LARGEST_FILE = 256 * 2**20  # bytes of one JSON file
_LONGEST_LINE = 2_000  # characters of a reason, a cause or a place
LONGEST_TEXT = 200_000  # characters of a traceback, a log tail or a note


def dumps(data: Any) -> str:
    """Compact JSON; a number that is not finite is refused, since other readers cannot hold it.

    >>> dumps({"learning_rate": 0.1, "wide": True})
    '{"learning_rate":0.1,"wide":true}'
    """
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError("json.not_writable", error=error) from None
    if len(text) > LONGEST_FIELD:
        raise StoreError("json.too_long", characters=len(text), most=LONGEST_FIELD)
    return text


def loads(text: str | bytes, what: str, longest: int = LONGEST_FIELD) -> Any:
    """The data of a JSON text; `what` names it in the refusal of one that is hostile or torn."""
    if len(text) > longest:
        raise Damaged("json.too_long_to_read", what=what, characters=len(text), most=longest)
    try:
        return json.loads(text)
    except RecursionError:
        raise Damaged("json.too_deep", what=what) from None
    except ValueError as error:
        raise Damaged("json.invalid", what=what, error=error) from None


def loads_object(text: str | bytes, what: str, longest: int = LONGEST_FIELD) -> dict[str, Any]:
    """The JSON object of a text; anything else was altered."""
    data = loads(text, what, longest)
    if not isinstance(data, dict):
        raise Damaged("json.not_an_object", path=what, kind=type(data).__name__)
    return data


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, within limits."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # a pipe never ends, and neither does /dev/zero
        raise Damaged("json.not_a_plain_file", path=path)
    size = status.st_size
    if size > LARGEST_FILE:
        raise Damaged("json.file_too_large", path=path, size=size, largest=LARGEST_FILE)
    return loads_object(path.read_bytes(), str(path), LARGEST_FILE)


@contextmanager
def as_written(where: str) -> Iterator[None]:
    """A block that reads what this program wrote: what does not fit was altered, and is Damaged."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, OSError) as error:
        text = f"{type(error).__name__}: {error}"[:300]
        raise Damaged("store.not_as_written", place=where, said=text) from error


def finite(value: Any) -> Any:
    """The same data with null in place of NaN and infinities, for readers outside.

    >>> finite({"value": float("nan"), "steps": [1, 2]})
    {'value': None, 'steps': [1, 2]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def clean(text: str) -> str:
    r"""The text without what a database refuses; exceptions can carry both.

    NUL is refused by PostgreSQL and lone surrogates by every UTF-8 encoder.

    >>> clean("bad \x00 byte, bad \ud800 half")
    'bad \\x00 byte, bad \\ud800 half'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def storable(text: str, longest: int = _LONGEST_LINE) -> str:
    """Clean text, head and tail kept when it is too long.

    >>> storable("a" * 100, longest=60)
    'aaaaaaaaaaaaaaaaaaaa ... 60 characters left out ... aaaaaaaaaaaaaaaaaaaa'
    """
    text = clean(text)
    if len(text) <= longest:
        return text
    half = max(longest // 2 - 10, 1)
    return f"{text[:half]} ... {len(text) - 2 * half:,} characters left out ... {text[-half:]}"


# ---- What a round is judged by and what its names mean, as plain data. Training processes read
# these too: nothing here may import the database.


def objective_data(objective: Objective) -> dict[str, Any]:
    """The objective as plain JSON data."""
    return {
        "metric": objective.metric,
        "minimize": objective.minimize,
        "at": objective.at,
        "subject_to": {name: list(limit) for name, limit in objective.subject_to.items()},
    }


def objective_from(data: Mapping[str, Any]) -> Objective:
    """The objective that plain data means."""
    limits = {name: (limit[0], limit[1]) for name, limit in data["subject_to"].items()}
    return Objective(data["metric"], data["minimize"], data["at"], limits)


def meaning_data(meaning: Meaning) -> dict[str, Any]:
    """The meanings as plain JSON data."""
    means = {
        name: list(spelled) if isinstance(spelled, tuple) else spelled
        for name, spelled in meaning.means.items()
    }
    data: dict[str, Any] = {"means": means, "off": dict(meaning.off)}
    return {**data, "deterministic": True} if meaning.deterministic else data


def meaning_from(data: Mapping[str, Any]) -> Meaning:
    """The meanings that plain data means."""
    return Meaning(data["means"], data["off"], data.get("deterministic", False))
