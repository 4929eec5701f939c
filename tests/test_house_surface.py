"""Rules of the house for the public surface: constructors, argument lists, examples."""

from __future__ import annotations

import dataclasses
import inspect
from types import ModuleType
from typing import Any

import tunewright as tw

MOST_FIELDS = 5  # a class with more of them is made by their names
MOST_POSITIONAL = 2  # but for the first ones, as in Workload(train, objective)


def public() -> dict[str, Any]:
    """Every public class and function by the shortest name that reaches it."""
    named = {name: getattr(tw, name) for name in tw.__all__}
    for path in tw._MODULES:
        module = getattr(tw, path)
        for name in offered(module):
            named.setdefault(f"{path}.{name}", getattr(module, name))
    by_identity: dict[int, str] = {}
    for name, thing in named.items():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            by_identity.setdefault(id(thing), name)
    return {name: named[name] for name in by_identity.values()}


def offered(module: ModuleType) -> list[str]:
    """`__all__`, or what a module without one defines."""
    return list(getattr(module, "__all__", ())) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def positional(kind: type) -> int:
    """How many fields of a dataclass may be given by their place."""
    return sum(field.init and not field.kw_only for field in dataclasses.fields(kind))


def test_classes_with_many_fields_are_made_by_name() -> None:
    many = {
        name: positional(kind)
        for name, kind in public().items()
        if dataclasses.is_dataclass(kind)
        and sum(field.init for field in dataclasses.fields(kind)) > MOST_FIELDS
        and positional(kind) > MOST_POSITIONAL  # type: ignore[arg-type]
    }
    assert many == {}, "use kw_only=True, or `_: KW_ONLY` after the first two"


def test_few_arguments_of_a_function_go_by_their_place() -> None:
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    many = {
        name: count
        for name, function in public().items()
        if inspect.isfunction(function)
        and (count := sum(p.kind in by_place for p in _parameters(function))) > MOST_FIELDS
    }
    assert many == {}, "put * before the options"


def _parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())
