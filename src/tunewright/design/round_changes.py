"""What differs between two rounds of one name, as messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tunewright.design._problems import ROLES
from tunewright.design.conditions import Given, When, column_of
from tunewright.design.ranges import Range, short
from tunewright.design.round import Round
from tunewright.messages import Message

Where = tuple[str, str]  # role and column


@dataclass(frozen=True)
class Change:
    """One difference between two rounds: what changed, its new value, and the message."""

    what: str  # `seed`, `detect`, a role whose order changed, or the column of a hyperparameter
    now: str  # empty when it is gone
    message: Message


def differences(old: Round, new: Round) -> list[Message]:
    """What changed, one message each; the goal, number of trials and what it continues may.

    >>> from tunewright.design.ranges import log
    >>> roles = {"nuisance": {"lr": log(0.01, 1)}, "trials_per_study": 4}
    >>> old, new = Round("r", goal="?", **roles), Round("r", goal="!", **roles, seed=7)
    >>> [message.text for message in differences(old, new)]
    ['seed: was 0, is 7']
    """
    return [change.message for change in changes(old, new)]


def changes(old: Round, new: Round) -> list[Change]:
    """What changed, as in `differences`, with what each sentence is about."""
    found = []
    for key in ("seed", "detect"):
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            found.append(Change(key, str(after), _said("value", key, str(before), str(after))))
    was, now = dict(_flat(old)), dict(_flat(new))
    gone = [key for key in was if key not in now]
    came = [key for key in now if key not in was]
    for role, column in [key for key in was if key in now and was[key] != now[key]]:
        after = now[role, column]
        said = _said("value", f"{role} {column}", was[role, column], after)
        found.append(Change(column, after, said))
    for role, column in gone:
        before = was[role, column]
        other = next((r for r, c in came if c == column), None)
        if other is None:
            found.append(Change(column, "", _said("gone", f"{role} {column}", before)))
        else:
            came.remove((other, column))
            after = now[other, column]
            said = _said("value", column, f"{role} {before}", f"{other} {after}")
            found.append(Change(column, after, said))
    for role, column in came:
        after = now[role, column]
        found.append(Change(column, after, _said("new", f"{role} {column}", after=after)))
    return found or list(_reordered(was, now))


def _reordered(was: Mapping[Where, str], now: Mapping[Where, str]) -> Iterator[Change]:
    for role in ("scientific", "nuisance"):
        before = [column for r, column in was if r == role]
        after = [column for r, column in now if r == role]
        if before != after:
            order = ", ".join(after)
            yield Change(role, order, _said("order", role, ", ".join(before), order))


def _said(kind: str, what: str, before: str = "", after: str = "") -> Message:
    return Message(f"changed.{kind}", {"what": what, "before": before, "after": after})


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
