"""Conditional hyperparameters: those that exist only under one value of another.

`given({"adam": {...}, "nesterov": {...}})` stands under its parent's name. The same name under two
values is two hyperparameters, distinguished by their column (`optimizer.adam.learning_rate`), while
a configuration uses the training function's own name (`learning_rate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tunewright.design.names import usual_meaning
from tunewright.design.ranges import (
    Choice,
    Range,
    Value,
    as_plain,
    as_range,
    check_plain,
    same_value,
)
from tunewright.errors import DesignError
from tunewright.messages import Message

LONGEST_NAME = 200  # characters, of a round or of a hyperparameter

# (column of a parent, the value it must have), outermost first
When = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Given:
    """What exists under each value of the parent whose name this stands under."""

    branches: tuple[tuple[Value, Mapping[str, Any]], ...]

    def __post_init__(self) -> None:
        if not self.branches:
            raise DesignError("given.no_values")
        values = Choice(tuple(value for value, _ in self.branches)).values  # refuses odd, doubled
        problems: list[Message] = []
        branches = []
        for value, (_, children) in zip(values, self.branches, strict=True):
            where = f"given(): {value!r}"
            if not isinstance(children, Mapping):
                problems.append(
                    Message("given.not_hyperparameters", {"place": where, "children": children})
                )
                continue
            branches.append((value, settle(children, where, problems)))
        if problems:
            raise DesignError.several(problems)
        object.__setattr__(self, "branches", tuple(branches))

    @property
    def values(self) -> tuple[Value, ...]:
        """The parent's values, in order."""
        return tuple(value for value, _ in self.branches)


def given(branches: Mapping[Any, Mapping[str, Any]]) -> Given:
    """Hyperparameters that depend on the value of the one whose name this stands under.

    Args:
        branches: a value of the hyperparameter -> what the round then searches or fixes, by name.

    >>> given({"adam": {"beta1": [0.9, 0.95]}, "sgd": {}}).values
    ('adam', 'sgd')
    """
    if not isinstance(branches, Mapping):
        raise DesignError("given.not_mapping", branches=branches)
    return Given(tuple(branches.items()))


@dataclass(frozen=True)
class Hyperparameter:
    """One searched dimension."""

    name: str  # what the training function calls it
    column: str  # its identity: the name, or parent.value.name when conditional
    range: Range
    when: When = ()  # all of these must hold for it to be active

    def active(self, settings: Mapping[str, Value]) -> bool:
        """Whether it exists under these values (by column)."""
        return holds(self.when, settings)


@dataclass(frozen=True)
class Fixed:
    """One fixed hyperparameter; conditional ones hold only under their parent's value."""

    name: str
    column: str
    value: Value
    when: When = ()


def holds(when: When, settings: Mapping[str, Value]) -> bool:
    """Whether every condition is met by these settings."""
    return all(c in settings and same_value(settings[c], v) for c, v in when)


def in_words(when: When) -> str:
    """The conditions as the end of a sentence, empty when there are none.

    >>> in_words((("optimizer", "adam"),))
    ' under optimizer = adam'
    """
    return " under " + " and ".join(f"{c} = {v}" for c, v in when) if when else ""


def column_of(name: str, when: When) -> str:
    """The identity of a hyperparameter: its path of parents and values, then its name.

    >>> column_of("learning_rate", (("optimizer", "adam"),))
    'optimizer.adam.learning_rate'
    """
    if not when:
        return name
    parent, value = when[-1]
    return f"{parent}.{value}.{name}"


def settle(declared: Mapping[str, Any], where: str, problems: list[Message]) -> dict[str, Any]:
    """A copy of a role's mapping with lists as choices and plain numbers as Python's own.

    What cannot be read is left out and added to `problems`, so that all are reported at once.
    Givens are put last, as in a round file; their place among the others changes no point.
    """
    declarations: dict[str, Any] = {}
    for name, declaration in declared.items():
        if problem := name_problem(name):
            problems.append(
                Message("declaration.at", {"place": where, "problem": problem.to_data()})
            )
            continue
        try:
            declarations[name] = _settle_one(declaration, name)
        except DesignError as error:
            problems += error.inside("declaration.inside", place=where)
    return dict(sorted(declarations.items(), key=lambda item: isinstance(item[1], Given)))


def _settle_one(declaration: Any, name: str) -> Given | Range | Value:
    if isinstance(declaration, Given):
        return declaration
    try:
        searched = as_range(declaration)
    except DesignError as error:
        raise DesignError.several(error.inside("declaration.at", place=name)) from None
    if searched is not None:
        return searched
    value: Value = as_plain(declaration)
    check_plain(value, name)
    return value


def name_problem(name: Any) -> Message | None:
    """What is wrong with a name, or None."""
    if not isinstance(name, str) or not name.strip():
        return Message("name.empty", {"name": name})
    if len(name) > LONGEST_NAME:
        return Message("name.too_long", {"start": name[:40], "most": LONGEST_NAME})
    if any(not c.isprintable() for c in name):
        return Message("name.unprintable", {"name": name})
    return None


def unfold_searched(
    declared: Mapping[str, Any], parents: Mapping[str, tuple[Value, ...]], when: When = ()
) -> Iterator[Hyperparameter]:
    """Every searched dimension of a role's mapping, parents before their children.

    `parents` holds the values of columns that are fixed elsewhere (scientific lists): a given
    under one of those adds children only; any other given is itself a nuisance choice.
    """
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            if column in parents:
                _check_covers(column, declaration.values, parents[column])
            else:
                yield Hyperparameter(name, column, Choice(declaration.values), when)
            for value, children in declaration.branches:
                yield from unfold_searched(children, parents, (*when, (column, value)))
            continue
        searched = as_range(declaration)
        if searched is None:
            raise DesignError("declaration.nothing_to_search", column=column, declared=declaration)
        yield Hyperparameter(name, column, searched, when)


def unfold_fixed(
    declared: Mapping[str, Any], parents: Mapping[str, tuple[Value, ...]], when: When = ()
) -> Iterator[Fixed]:
    """Every fixed hyperparameter, conditional ones with their conditions."""
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            if column not in parents:
                raise DesignError(
                    "given.parent_has_one_value", column=column, values=list(declaration.values)
                )
            _check_covers(column, declaration.values, parents[column])
            for value, children in declaration.branches:
                yield from unfold_fixed(children, parents, (*when, (column, value)))
            continue
        searched = as_range(declaration)
        if searched is not None:
            # the number of steps and the batch size are not to be searched: no such advice
            meant = usual_meaning(name)
            one_value = meant in ("max_train_steps", "batch_size")
            raise DesignError(
                "declaration.fixed_range",
                column=column,
                range=searched,
                meaning=meant if one_value else None,
            )
        yield Fixed(name, column, declaration, when)


def _check_covers(column: str, named: tuple[Value, ...], values: tuple[Value, ...]) -> None:
    missing = [v for v in values if not any(same_value(v, n) for n in named)]
    unknown = [n for n in named if not any(same_value(v, n) for v in values)]
    if unknown:
        raise DesignError(
            "given.unknown_values", column=column, unknown=unknown, values=list(values)
        )
    if missing:
        raise DesignError("given.missing_values", column=column, missing=missing)
