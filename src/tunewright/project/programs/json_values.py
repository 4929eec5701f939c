"""Values inside a JSON argument of a command: `--hparams='{"lr": 1e-3, "batch_size": 32}'`.

Each number, true and false becomes a hyperparameter with that default; everything else stays as it
is. The source of a program does not show which keys such an option takes, so the command does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tunewright.messages import Message
from tunewright.project.programs.declared import Declared, Kind

_NAME = re.compile(r"[A-Za-z_]\w*")
_HELP = re.compile(r"\bjson\b", re.IGNORECASE)
_FILE = re.compile(r"\b(file|path|output|save|write|log)", re.IGNORECASE)
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float"}


def default_words(options: Iterable[Declared], given: Collection[str]) -> list[str]:
    """The JSON options that are not given, with the object that the program has by default."""
    taken = {word.partition("=")[0] for word in given}
    return [
        f"{option.option}={option.value}"
        for option in options
        if option.option and option.option not in taken and _dictionary(str(option.value or ""))
    ]


def json_values(given: Iterable[str], besides: Collection[str]) -> tuple[Declared, ...]:
    """The values inside the JSON objects of these words, as options with a default.

    >>> [(own.name, own.value) for own in json_values(['--hparams={"lr": 0.1, "net": "mlp"}'], ())]
    [('lr', 0.1)]
    """
    options: dict[str, Declared] = {}
    for word in given:
        for name, value in (_dictionary(word[max(0, word.find("{")) :]) or {}).items():
            kind = _KINDS.get(type(value))
            if kind and _NAME.fullmatch(name) and name not in (*besides, *options):
                options[name] = Declared(name, "", kind, value, passed="json")
    return tuple(options.values())


def with_fields(word: str, fields: Mapping[str, str]) -> str:
    """The word as a template: a field in place of each of these keys' values.

    >>> with_fields('--hparams={"lr": 0.1, "net": "mlp"}', {"lr": "{lr}"})
    '--hparams={{"lr": {lr}, "net": "mlp"}}'
    """
    at = max(0, word.find("{"))
    dictionary = _dictionary(word[at:]) or {}
    if not fields.keys() & dictionary.keys():
        return word.replace("{", "{{").replace("}", "}}")
    pairs = [
        f"{_plain(name)}: {fields[name] if name in fields else _plain(value)}"
        for name, value in dictionary.items()
    ]
    return f"{word[:at]}{{{{{', '.join(pairs)}}}}}"


def json_notes(options: Iterable[Declared], given: Sequence[str]) -> list[Message]:
    """Which options take a JSON object whose keys only the user knows."""
    taken = {word.partition("=")[0] for word in given}
    return [
        Message("scan.json_option", {"option": option.option})
        for option in options
        if option.option not in taken
        and option.kind == "str"
        and not option.value
        and _HELP.search(option.help)
        and not _FILE.search(option.help)
    ]


def _dictionary(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _plain(value: object) -> str:
    return json.dumps(value).replace("{", "{{").replace("}", "}}")
