"""What a round has cost so far, what the rest of it will cost, and what is left of the budget.

Only what this round trained counts: trials of earlier rounds that it is read together with cost
nothing a second time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tunewright.budgets.budget import Amounts
from tunewright.budgets.cost import CostEstimate, Price, Timing, Trainings, cost_of
from tunewright.budgets.state import BudgetState, state
from tunewright.errors import StoreError
from tunewright.facts import Facts
from tunewright.messages import Message
from tunewright.store.results import Results

_HOUR_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Spending(Facts):
    """Spent and left, of a round and of the budget."""

    round: str  # its name
    spent: Amounts  # trainings that began, hours of training, money where a price is known
    left: CostEstimate  # trainings of the round that have not ended
    budget: BudgetState | None = None  # None: there is none
    currency: str = ""  # of the price

    @property
    def message(self) -> Message:
        """Both on one line, as a code with its facts."""
        return Message("cost.spent", self.to_data())


def spending(results: Results, price: Price | None = None, workers: int = 1) -> Spending:
    """What a round has cost, and what the rest of it will cost.

    Hours are hours of training, all trials added up; trials that run now count once they have
    ended. Money needs a price: the one given, else the budget's.

    Args:
        results: the round as recorded.
        price: of an hour of training; None: the budget's.
        workers: trainings at a time, for what is left.
    """
    known: BudgetState | None = None
    if results.store and not results.imported:
        with contextlib.suppress(StoreError):  # results may outlive their store
            known = state(results.store)
    price = price or (None if known is None else known.price)
    trained = [
        trial
        for trial in (*results.recorded, *results.recorded_repeats)
        if trial.origin is None and trial.attempts
    ]
    hours = sum(trial.seconds for trial in trained) / _HOUR_S
    money = None if price is None else hours * price.per_hour
    of_budget = None if known is None else known.left
    left = cost_of(waiting(results), timings(results), workers=workers, price=price, left=of_budget)
    return Spending(
        round=results.round.name,
        spent=Amounts(trials=len(trained), hours=hours, money=money),
        left=left,
        budget=known,
        currency="" if price is None else price.currency,
    )


def timings(results: Results) -> tuple[Timing, ...]:
    """How long the trainings of a round took, with their lengths; failed ones do not count."""
    name = results.meaning.name("max_train_steps")
    counted = ("completed", "pruned", "infeasible", "unmeasured")
    return tuple(
        Timing(trial.seconds, length_of(trial.configuration, name))
        for trial in (*results.recorded, *results.recorded_repeats)
        if trial.status in counted and trial.attempts
    )


def waiting(results: Results) -> tuple[Trainings, ...]:
    """The trainings of a round that have not ended, by their length."""
    if results.imported:
        return ()
    name = results.meaning.name("max_train_steps")
    numbers: dict[float | None, int] = {}
    for trial in results.recorded:
        if not trial.ended and trial.origin is None:
            fixed = {
                hyperparameter.name: hyperparameter.value
                for hyperparameter in results.studies[trial.study].fixed
            }
            steps = length_of({**fixed, **trial.configuration}, name)
            numbers[steps] = numbers.get(steps, 0) + 1
    return tuple(Trainings(number, steps=steps) for steps, number in numbers.items())


def length_of(configuration: Mapping[str, object], name: str) -> float | None:
    """The number of steps of a configuration; None where it has none.

    >>> length_of({"steps": 100}, "steps"), length_of({"steps": "many"}, "steps")
    (100.0, None)
    """
    value = configuration.get(name)
    return float(value) if type(value) in (int, float) else None  # type: ignore[arg-type]


def together(name: str, parts: Sequence[Spending]) -> Spending:
    """The spending of several rounds of one store as one."""
    first, *more = parts
    whole = first
    for estimate in more:
        spent, left = whole.spent.plus(estimate.spent), whole.left.plus(estimate.left)
        whole = replace(whole, spent=spent, left=left)
    return replace(whole, round=name)
