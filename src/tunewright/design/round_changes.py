"""What differs between two rounds of one name, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tunewright.design._problems import ROLES
from tunewright.design.conditions import Given, When, column_of
from tunewright.design.ranges import Range, short
from tunewright.design.round import Round

Where = tuple[str, str]  # role and column


@dataclass(frozen=True)
class Change:
    """One difference between two rounds: what changed, its new value, and the sentence."""

    what: str  # `seed`, `detect`, a role whose order changed, or the column of a hyperparameter
    now: str  # empty when it is gone
    text: str


def differences(old: Round, new: Round) -> list[str]:
    """What changed, one sentence each; the goal, number of trials and what it continues may.

    >>> from tunewright.design.ranges import log
    >>> roles = {"nuisance": {"lr": log(0.01, 1)}, "trials_per_study": 4}
    >>> differences(Round("r", goal="?", **roles), Round("r", goal="!", **roles, seed=7))
    ['seed: was 0, is 7']
    """
    return [change.text for change in changes(old, new)]


def changes(old: Round, new: Round) -> list[Change]:
    """What changed, as `differences` says it, with what each sentence is about."""
    found = []
    for key in ("seed", "detect"):
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            found.append(Change(key, str(after), f"{key}: was {before}, is {after}"))
    was, now = dict(_flat(old)), dict(_flat(new))
    gone = [key for key in was if key not in now]
    came = [key for key in now if key not in was]
    for role, column in [key for key in was if key in now and was[key] != now[key]]:
        after = now[role, column]
        text = f"{role} {column}: was {was[role, column]}, is {after}"
        found.append(Change(column, after, text))
    for role, column in gone:
        before = was[role, column]
        other = next((r for r, c in came if c == column), None)
        if other is None:
            found.append(Change(column, "", f"{role} {column}: was {before}, is gone"))
        else:
            came.remove((other, column))
            after = now[other, column]
            text = f"{column}: was {role} {before}, is {other} {after}"
            found.append(Change(column, after, text))
    for role, column in came:
        after = now[role, column]
        found.append(Change(column, after, f"{role} {column}: is new, {after}"))
    return found or list(_reordered(was, now))


def _reordered(was: Mapping[Where, str], now: Mapping[Where, str]) -> Iterator[Change]:
    for role in ("scientific", "nuisance"):
        before = [column for r, column in was if r == role]
        after = [column for r, column in now if r == role]
        if before != after:
            order = ", ".join(after)
            text = (
                f"{role}: the order was {', '.join(before)}, is {order}; the order "
                "decides which points are drawn"
            )
            yield Change(role, order, text)


def _flat(round: Round) -> Iterator[tuple[Where, str]]:
    """Every declaration of a round as ((role, column), text), givens unfolded."""
    for role in ROLES:
        yield from _flat_role(role, getattr(round, role), ())


def _flat_role(role: str, declared: Mapping[str, Any], when: When) -> Iterator[tuple[Where, str]]:
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            yield (role, column), f"given {', '.join(map(repr, declaration.values))}"
            for value, children in declaration.branches:
                yield from _flat_role(role, children, (*when, (column, value)))
        else:
            text = str(declaration) if isinstance(declaration, Range) else short(declaration)
            yield (role, column), text
