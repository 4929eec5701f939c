"""Files altered at random, in their bytes or in their fields, with a right checksum where asked."""

from __future__ import annotations

import hashlib
import json
import random
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.importers.test_fuzz import altered

from tunewright.errors import TunewrightError

MUTATIONS = 500
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 10**30, 1e308, 1e18, 0.5),
    *("", "x", "nan", "9" * 400, "../../x", "/etc", "completed", "running", "\x00", "é\u2028"),
    *([], {}, [[]], [1], {"a": 1}, {"log": [1, 2]}, ["x"] * 50, "z" * 300),
]
CHECKED = 0.5  # of the files that have a checksum keep a right one


def field(data: Any, chance: random.Random) -> Any:
    """The same data with one value replaced, taken away, put in or doubled."""
    if isinstance(data, dict) and data and chance.random() < 0.85:
        key = chance.choice(sorted(data))
        if chance.random() < 0.1:
            return {name: value for name, value in data.items() if name != key}
        if chance.random() < 0.05:
            return {**data, chance.choice(["extra", "", "kind", "name"]): chance.choice(VALUES)}
        return {**data, key: field(data[key], chance)}
    if isinstance(data, list) and data and chance.random() < 0.85:
        place = chance.randrange(len(data))
        if chance.random() < 0.1:
            return [*data, data[place]]
        return [*data[:place], field(data[place], chance), *data[place + 1 :]]
    return chance.choice(VALUES)


def checked(data: bytes, chance: random.Random) -> bytes:
    """A file of ours altered: mostly a field of it, under a checksum that is right."""
    if chance.random() > CHECKED:
        return altered(data, chance)
    told = json.dumps(field(json.loads(data)["content"], chance))
    total = hashlib.sha256(told.encode()).hexdigest()
    return f'{{"sha256": "{total}", "content": {told}}}'.encode()


def plain(data: bytes, chance: random.Random) -> bytes:
    """A JSON file altered: mostly a field of it."""
    if chance.random() > CHECKED:
        return altered(data, chance)
    return json.dumps(field(json.loads(data), chance)).encode()


def drive(name: str, use: Callable[[random.Random, int], None], count: int = MUTATIONS) -> Counter:
    """Use so many altered files; nothing but errors of ours may come out. How each one ended."""
    ends: Counter[str] = Counter()
    unforeseen: dict[str, str] = {}
    for number in range(count):
        try:
            use(random.Random(f"{name} {number}"), number)
        except TunewrightError as error:
            assert error.code and str(error)
            ends[type(error).__name__] += 1
        except Exception as error:
            own = [f for f in traceback.extract_tb(error.__traceback__) if "/src/" in f.filename]
            where = [f"{Path(f.filename).name}:{f.lineno}" for f in own[-3:]]
            unforeseen.setdefault(f"{where} {type(error).__name__}", f"{number}: {error}"[:200])
        else:
            ends["read"] += 1
    assert not unforeseen, f"{name}: {json.dumps(unforeseen, indent=1)}"
    assert sum(ends.values()) == count
    return ends
