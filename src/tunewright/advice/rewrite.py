"""A round's declarations with some of them replaced, conditional ones included."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from tunewright.design.conditions import Given, When, column_of
from tunewright.design.ranges import Choice, Range, Value, same_value
from tunewright.design.round import Round

Roles = dict[str, dict[str, Any]]  # role -> declarations


def with_ranges(
    declared: Mapping[str, Any], ranges: Mapping[str, Range], when: When = ()
) -> dict[str, Any]:
    """The declarations of a role with the ranges of these columns replaced.

    >>> from tunewright.design.conditions import given
    >>> from tunewright.design.ranges import log
    >>> role = {"optimizer": given({"adam": {"lr": log(0.1, 1)}, "sgd": {"lr": log(0.1, 1)}})}
    >>> wider = with_ranges(role, {"optimizer.sgd.lr": log(0.1, 10)})["optimizer"]
    >>> [str(children["lr"]) for _, children in wider.branches]
    ['log(0.1, 1)', 'log(0.1, 10)']
    """
    made: dict[str, Any] = {}
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            made[name] = Given(
                tuple(
                    (value, with_ranges(children, ranges, (*when, (column, value))))
                    for value, children in declaration.branches
                )
            )
        else:
            made[name] = ranges.get(column, declaration)
    return made


def searched_ranges(round: Round) -> dict[str, Range]:
    """Every range that is searched, by column, in the order of the studies."""
    return {h.column: h.range for study in round.studies for h in study.space}


def names_of(round: Round) -> dict[str, str]:
    """What the training function calls each searched column."""
    return {h.column: h.name for study in round.studies for h in study.space}


def fixed_at(round: Round, values: Mapping[str, Value]) -> Roles:
    """The roles with these unconditional nuisance hyperparameters fixed at a value."""
    nuisance = {n: d for n, d in round.nuisance.items() if n not in values}
    return {"nuisance": nuisance, "fixed": {**round.fixed, **values}}


def settled_on(round: Round, setting: Mapping[str, Value]) -> Roles:
    """The roles with the scientific lists fixed at one setting, and what depends on it kept."""
    scientific = {n: d for n, d in round.scientific.items() if n not in setting}
    nuisance = _under(round.nuisance, setting)
    fixed = {**setting, **_under(round.fixed, setting)}
    return {"scientific": scientific, "nuisance": nuisance, "fixed": fixed}


def unasked(round: Round) -> Roles:
    """The roles with every scientific hyperparameter searched like the others."""
    lists = {n: d for n, d in round.scientific.items() if n not in round.nuisance}
    return {"scientific": {}, "nuisance": {**lists, **round.nuisance}, "fixed": {**round.fixed}}


def _under(declared: Mapping[str, Any], setting: Mapping[str, Value]) -> dict[str, Any]:
    """The declarations where a condition on the setting has become certain."""
    made: dict[str, Any] = {}
    for name, declaration in declared.items():
        if isinstance(declaration, Given) and name in setting:
            for value, children in declaration.branches:
                if same_value(value, setting[name]):
                    made |= _under(children, setting)
        else:
            made[name] = declaration
    return made


def longer_list(listed: tuple[Value, ...], side: str) -> Choice | None:
    """A list of numbers in order with one more at an end, by the step or ratio of its last two.

    >>> longer_list((1, 2, 3), "high").values, longer_list((64, 128), "low").values
    ((1, 2, 3, 4), (32, 64, 128))
    >>> longer_list((0.0, 0.1, 0.2), "high").values
    (0.0, 0.1, 0.2, 0.3)
    """
    declared = Choice(listed)
    if not declared.ordered or len(declared.values) < 2:
        return None
    numbers = [float(v) for v in declared.values]  # type: ignore[arg-type]
    rising = numbers[-1] > numbers[0]
    at_end = (side == "high") == rising
    last, before = (numbers[-1], numbers[-2]) if at_end else (numbers[0], numbers[1])
    wanted = _next_number(last, before, numbers)
    whole = all(isinstance(v, int) for v in declared.values)
    value: Value = round(wanted) if whole else float(f"{wanted:.6g}")
    if any(same_value(value, v) for v in declared.values):
        return None
    values = (*declared.values, value) if at_end else (value, *declared.values)
    made = Choice(values)
    return made if made.ordered else None


def _next_number(last: float, before: float, numbers: list[float]) -> float:
    ratios = [b / a for a, b in itertools.pairwise(numbers) if a]
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    even = max(steps) - min(steps) <= 1e-9 * max(map(abs, steps))
    geometric = (
        len(ratios) == len(steps)
        and min(ratios) > 0
        and max(ratios) - min(ratios) <= 1e-6 * max(ratios)
    )
    if geometric and (not even or len(numbers) == 2):
        return last * last / before
    return last + (last - before)
