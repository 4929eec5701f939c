"""A plan when training is compute-bound: learn from short training, keep long training for the end.

Round 1 trains for about a tenth of the production length, though never less than ten times the
warm-up; round 2 trains few good configurations for all of it (playbook, "Deciding how long to train
when training is compute-bound").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tunewright import messages
from tunewright.errors import DesignError
from tunewright.messages import Text

SHORT = 0.1  # of the production length
WARMUPS = 10  # of the first round's length
TRIALS, LONG_TRIALS = 30, 5  # of round 1, and the few of round 2


@dataclass(frozen=True)
class Length:
    """One round of the plan."""

    max_train_steps: int
    trials: int
    purpose: Literal["only", "first", "last"]

    @property
    def what(self) -> Text:
        """What the round is for."""
        return messages.text(f"length.{self.purpose}", {})

    @property
    def steps(self) -> int:
        """All the training steps it costs."""
        return self.max_train_steps * self.trials


@dataclass(frozen=True)
class LengthPlan:
    """The rounds, short to long, and what all of them cost."""

    rounds: tuple[Length, ...]

    @property
    def steps(self) -> int:
        """All the training steps of the plan."""
        return sum(own.steps for own in self.rounds)


def first_length(production_steps: int, warmup_steps: int = 0) -> int:
    """How long round 1 trains.

    >>> first_length(100_000), first_length(100_000, warmup_steps=2000)
    (10000, 20000)
    """
    for name, value, least in (
        ("production_steps", production_steps, 1),
        ("warmup_steps", warmup_steps, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise DesignError("advice.bad_steps", name=name, value=value, least=least)
    return min(production_steps, max(round(SHORT * production_steps), WARMUPS * warmup_steps, 1))


def length_plan(production_steps: int, warmup_steps: int = 0, trials: int = TRIALS) -> LengthPlan:
    """Two rounds for a production length, and what they cost in training steps.

    >>> plan = length_plan(100_000)
    >>> [(own.max_train_steps, own.trials) for own in plan.rounds], plan.steps
    ([(10000, 30), (100000, 5)], 800000)
    """
    short = first_length(production_steps, warmup_steps)
    few = min(LONG_TRIALS, trials)
    if short == production_steps:
        return LengthPlan((Length(short, trials, "only"),))
    first = Length(short, trials, "first")
    return LengthPlan((first, Length(production_steps, few, "last")))
