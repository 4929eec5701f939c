"""One reason to doubt that a value was applied, whatever the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tunewright.store.trial import Trial

Kind = Literal[
    "echo",  # the program reported another value
    "ranks",  # its processes reported different values
    "scaled",  # it reported the value times one factor, in all trials
    "curves",  # other values give the same curve, digit for digit
    "rate",  # the logged learning rate is not the one that was given
    "no_decay",  # a schedule that decays, and a logged rate that stays
    "decays",  # a constant schedule, and a logged rate that falls
    "no_warmup",  # the logged rate starts at its peak, inside the warm-up
    "unknown_option",  # the program ignores options that it does not know
    "unread_option",  # the program parses the option and never reads it
]
MILD: frozenset[Kind] = frozenset({"scaled"})
MOST_LISTED = 20  # trials listed


@dataclass(frozen=True)
class Doubt:
    """A hyperparameter whose values the program seems not to use, and what shows it."""

    kind: Kind
    name: str
    runs: int  # trials that show it
    of: int  # trials that could have shown it
    trials: tuple[int, ...]  # numbers of the first of them
    given: tuple[Any, ...] = ()  # the values of the first trials
    seen: tuple[Any, ...] = ()  # what the program reported, logged or prints
    option: str = ""  # of the command line
    certain: bool = True  # False: a hyperparameter without any effect looks the same


def numbers(trials: Sequence[Trial]) -> tuple[int, ...]:
    """The numbers of the first of these trials."""
    return tuple(t.number for t in trials if t.number is not None)[:MOST_LISTED]
