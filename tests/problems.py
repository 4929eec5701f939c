"""The problems of an error as codes and facts: for tests of what is refused, not of its wording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright.errors import TunewrightError


def problems(error: BaseException) -> list[tuple[str, dict[str, Any]]]:
    """Code and facts of every problem, or of the one inside it, with the way there as `within`."""
    assert isinstance(error, TunewrightError)
    return [_innermost(one.code, one.facts) for one in error.problems]


def codes(error: BaseException) -> list[str]:
    """The code of every problem."""
    return [code for code, _ in problems(error)]


def states(error: BaseException, code: str, facts: Mapping[str, Any] | None = None) -> bool:
    """Whether one of the problems has this code, and these facts among its own."""
    wanted = facts or {}
    return any(
        found == code and all(name in own and own[name] == wanted[name] for name in wanted)
        for found, own in problems(error)
    )


def _innermost(code: str, facts: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    at: list[str] = []
    while isinstance(facts.get("problem"), Mapping):
        at.append(str(facts.get("path", facts.get("place", facts.get("column", code)))))
        code, facts = facts["problem"]["code"], facts["problem"]
    own = {name: value for name, value in facts.items() if name != "code"}
    return code, {**own, "within": at} if at else own
