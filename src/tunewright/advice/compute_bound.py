"""A plan when training is compute-bound: learn from short training, keep long training for the end.

Round 1 trains for about a tenth of the production length, though never less than ten times the
warm-up; the last round trains few good configurations for all of it, with a round between where
the two are far apart (playbook, "Deciding how long to train when training is compute-bound": one to
three rounds, exponentially longer, conclusions looked at again at each length).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tunewright import messages
from tunewright.errors import DesignError
from tunewright.messages import Text

SHORT = 0.1  # of the production length
_WARMUPS = 10  # of the first round's length
TRIALS, LONG_TRIALS = 30, 5  # of round 1, and the few of the last
_GROWTH = 3  # times as long, from one round to the next


@dataclass(frozen=True)
class Length:
    """One round of the plan."""

    max_train_steps: int
    trials: int
    purpose: Literal["only", "first", "between", "last"]

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
    return min(production_steps, max(round(SHORT * production_steps), _WARMUPS * warmup_steps, 1))


def length_plan(
    production_steps: int, warmup_steps: int = 0, trials: int = TRIALS, rounds: int = 2
) -> LengthPlan:
    """One to three rounds up to a production length, each several times as long as the last.

    The trials of a round fall as its length grows, so that no round costs much more than the first
    two. The conclusions of a length are looked at again at the next (`advice.agreement`).

    >>> plan = length_plan(100_000)
    >>> [(own.max_train_steps, own.trials) for own in plan.rounds], plan.steps
    ([(10000, 30), (100000, 5)], 800000)
    >>> [(own.max_train_steps, own.trials) for own in length_plan(100_000, rounds=3).rounds]
    [(10000, 30), (32000, 12), (100000, 5)]
    """
    if type(rounds) is not int or rounds not in (1, 2, 3):
        raise DesignError("advice.bad_rounds", rounds=rounds, most=3)
    short = first_length(production_steps, warmup_steps)
    few = min(LONG_TRIALS, trials)
    if short == production_steps or rounds == 1:
        return LengthPlan((Length(production_steps, trials, "only"),))
    made = [Length(short, trials, "first")]
    for step in range(1, rounds - 1):
        share = step / (rounds - 1)
        steps = _digits(short * (production_steps / short) ** share)
        between = round(trials * (few / trials) ** share)
        if short < steps < production_steps:
            made.append(Length(steps, between, "between"))
    return LengthPlan((*made, Length(production_steps, few, "last")))


def increasing(steps: int, rounds: int = 3) -> tuple[int, ...]:
    """Lengths for several rounds from this one on, about three times as long each.

    >>> increasing(2000)
    (2000, 6000, 18000)
    """
    return tuple(steps * _GROWTH**power for power in range(rounds))


def _digits(x: float) -> int:
    """A number of steps with two digits."""
    return int(float(f"{x:.2g}"))
