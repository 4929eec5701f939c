"""A round as plain data, in the words of a round file.

Ranges read `{"log": [1e-4, 0.1]}`, `{"integers": [1, 64], "log": true}`; a list is a choice; a
given reads `{"given": {"adam": {...}, "sgd": {}}}`, or as a list of pairs where a value is no text.
The order of names is part of a round (it decides the points): keep it when storing the data.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from tunewright.design._problems import ROLES, kind_problems, plain_problems
from tunewright.design.conditions import Given, settle
from tunewright.design.ranges import Choice, Range
from tunewright.design.registry import kinds, read
from tunewright.design.round import Round
from tunewright.design.toml_file import unknown_key
from tunewright.errors import DesignError
from tunewright.messages import Message

KEYS = ("name", "goal", "trials_per_study", "seed", "detect", "continues", "change", *ROLES)
_BAD = object()  # a declaration that could not be read; its problem has been reported


def as_data(round: Round) -> dict[str, Any]:
    """The round as plain JSON data; `from_data` gives it back.

    >>> from tunewright.design.ranges import log
    >>> as_data(Round("r", goal="?", nuisance={"lr": log(0.1, 1)}, trials_per_study=4))["nuisance"]
    {'lr': {'log': [0.1, 1.0]}}
    """
    data: dict[str, Any] = {
        "name": round.name,
        "goal": round.goal.to_data() if isinstance(round.goal, Message) else round.goal,
        "trials_per_study": round.trials_per_study,
        "seed": round.seed,
    }
    if round.detect is not None:
        data["detect"] = round.detect
    if round.continues:
        data["continues"] = round.continues
    if round.change is not None:
        data["change"] = round.change.to_data()
    for role in ROLES:
        data[role] = {n: declaration_data(d) for n, d in getattr(round, role).items()}
    return data


def declaration_data(declared: Any) -> Any:
    """One hyperparameter's declaration as plain data."""
    match declared:
        case Range():
            return _range_data(declared)
        case Given(branches):
            children = [
                (value, {name: declaration_data(d) for name, d in under.items()})
                for value, under in branches
            ]
            if all(isinstance(value, str) for value, _ in children):
                return {"given": dict(children)}
            return {"given": [list(pair) for pair in children]}
    return declared


def _range_data(own: Range) -> Any:
    """A range with its belief; a list with one is written by its name."""
    data = own.to_data()
    if own.belief is None:
        return data
    named = {own.kind: data} if isinstance(data, list) else data
    return {**named, **own.belief.to_data()}


def from_data(data: Mapping[str, Any]) -> Round:
    """The round that plain data means; every problem at once."""
    if not isinstance(data, Mapping):
        raise DesignError("round.not_mapping", keys=list(KEYS), data=data)
    problems = [unknown_key(key, KEYS, "round") for key in data if key not in KEYS]
    plain = {key: data[key] for key in KEYS if key in data and key not in ROLES}
    for key in ("goal", "change"):
        if key in plain:
            plain[key] = _read_message(plain[key])
    for key, example in (
        ("name", 'name = "depth"'),
        ("goal", 'goal = "Do more layers help?"'),
        ("trials_per_study", "trials_per_study = 20"),
    ):
        if key not in plain:
            problems.append(Message("round.key_missing", {"key": key, "example": example}))
    stand_in = {"name": "?", "goal": "?", "trials_per_study": 1, "seed": 0, "detect": None}
    roles: dict[str, Any] = {}
    for role in ROLES:
        declared = data.get(role, {})
        if not isinstance(declared, Mapping):
            problems.append(Message("round.role_not_table", {"role": role, "declared": declared}))
            declared = {}
        roles[role] = _read_all(declared, role, problems)
    if problems:  # report what else is wrong, as far as it can be known
        problems += plain_problems(**{**stand_in, **plain})
        settled = {role: settle(roles[role], role, problems) for role in ROLES}
        raise DesignError.several([*problems, *kind_problems(settled)])
    return Round(**plain, **roles)


def sound_part(data: Mapping[str, Any]) -> Round | None:
    """The round without those declarations that cannot be read or run; None: nothing is left."""
    plain = {"name": "?", "goal": "?", "trials_per_study": 1}
    kept: dict[str, dict[str, Any]] = {role: {} for role in ROLES}
    for role in ROLES:
        declared = data.get(role, {})
        for name, one in declared.items() if isinstance(declared, Mapping) else ():
            parent = {} if role == "scientific" else kept["scientific"].get(name)
            alone = {"scientific": {name: parent}} if parent else {}
            if _is_sound({**plain, **alone, role: {name: one}}):
                kept[role][name] = one
    whole = {**plain, **kept}
    return from_data(whole) if _is_sound(whole) else None


def names_in(data: Mapping[str, Any]) -> Iterator[str]:
    """Every name that a round's data gives a role, under a condition or not, sound or not."""
    for role in ROLES:
        yield from _names(data.get(role, {}))


def _names(declared: Any) -> Iterator[str]:
    for name, one in declared.items() if isinstance(declared, Mapping) else ():
        yield str(name)
        branches = one.get("given") if isinstance(one, Mapping) else None
        if isinstance(branches, Mapping):
            branches = list(branches.items())
        for pair in branches if isinstance(branches, list) else ():
            if isinstance(pair, list | tuple) and len(pair) == 2:
                yield from _names(pair[1])


def _is_sound(data: Mapping[str, Any]) -> bool:
    try:
        from_data(data)
    except DesignError:
        return False
    return True


def _read_message(data: Any) -> Any:
    """The message that a table with a code and facts means; anything else stays what it is."""
    if not isinstance(data, Mapping) or not isinstance(data.get("code"), str):
        return data
    return Message(data["code"], {n: _nones(fact) for n, fact in data.items() if n != "code"})


def _nones(fact: Any) -> Any:
    """A fact with None again where TOML, which has no such value, holds a table for it."""
    if isinstance(fact, Mapping):
        return None if fact == {"none": True} else {n: _nones(one) for n, one in fact.items()}
    return [_nones(one) for one in fact] if isinstance(fact, list) else fact


def _read_all(declared: Mapping[str, Any], where: str, problems: list[Message]) -> dict[str, Any]:
    read = {name: _read(d, f"{where} {name}", problems) for name, d in declared.items()}
    return {name: declaration for name, declaration in read.items() if declaration is not _BAD}


def _read(data: Any, where: str, problems: list[Message]) -> Any:
    """One declaration, or _BAD with its problem added."""
    try:
        if isinstance(data, Mapping):
            if data == {"none": True}:
                return None
            return _read_table(data, where, problems)
        if isinstance(data, list):
            return Choice.from_data({"choice": data})
        return data
    except DesignError as error:
        problems += error.inside("declaration.at", place=where)
        return _BAD


def _read_table(data: Mapping[str, Any], where: str, problems: list[Message]) -> Any:
    if "given" not in data:
        found = read(data)
        if found is None:
            raise _no_range(data, where)
        return found
    others = [key for key in data if key != "given"]
    if others:
        raise DesignError("declaration.two_kinds", others=others, kind="given")
    return _read_given(data["given"], where, problems)


def _read_given(data: Any, where: str, problems: list[Message]) -> Any:
    pairs = list(data.items()) if isinstance(data, Mapping) else data
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[1], Mapping)
        for pair in pairs
    ):
        raise DesignError("declaration.bad_given")
    before = len(problems)
    branches = tuple(
        (_value(value), _read_all(children, f"{where}.{value}", problems))
        for value, children in pairs
    )
    return Given(branches) if len(problems) == before else _BAD


def _value(data: Any) -> Any:
    return None if data == {"none": True} else data


def _no_range(data: Mapping[str, Any], where: str) -> DesignError:
    name = where.split(" ", 1)[1]
    known = [*kinds(), "given"]
    for key in data:
        near = difflib.get_close_matches(str(key), known, n=1)
        if near:
            return DesignError("declaration.unknown_kind", key=key, near=near[0])
    return DesignError(
        "declaration.no_range",
        declared=dict(data),
        name=name,
        key=next(iter(data), None),
        kinds=list(kinds()),
    )
