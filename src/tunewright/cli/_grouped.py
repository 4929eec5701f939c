"""Groups of options that several commands share, as one parameter of each command.

A group is a frozen data class whose fields are annotated as a command's parameters are.
`flatten_groups` gives a command the fields of its groups as parameters, which typer reads, and puts
the groups together again when the command is called.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def flatten_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every field of its groups as a parameter.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Where:
    ...     store: str = "tuning.db"
    >>> @flatten_groups
    ... def show(round: str, where: Where) -> None:
    ...     print(round, where.store)
    >>> inspect.signature(show)
    <Signature (*, round: str, store: str = 'tuning.db') -> None>
    >>> show(round="first")
    first tuning.db
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if dataclasses.is_dataclass(parameter.annotation)
    }
    last = sorted(
        signature.parameters.values(), key=lambda parameter: parameter.name in groups
    )  # what others share
    flat = [each for parameter in last for each in _flat(parameter)]

    @functools.wraps(command)
    def flat_command(**given: Any) -> None:
        options = {
            name: kind(
                **{f.name: given.pop(f.name) for f in dataclasses.fields(kind) if f.name in given}
            )
            for name, kind in groups.items()
        }
        command(**given, **options)

    flat_command.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    flat_command.__annotations__ = {parameter.name: parameter.annotation for parameter in flat} | {
        "return": None
    }
    return flat_command


def _flat(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The fields of a group as parameters; any other parameter as it is."""
    kind = parameter.annotation
    if not dataclasses.is_dataclass(kind):
        yield parameter.replace(kind=_KEYWORD)
        return
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        missing = field.default is dataclasses.MISSING
        default = inspect.Parameter.empty if missing else field.default
        yield inspect.Parameter(field.name, _KEYWORD, default=default, annotation=hints[field.name])
