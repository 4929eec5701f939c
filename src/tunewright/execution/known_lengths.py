"""How long the same program took in other rounds: an estimate before any trial has ended."""

from __future__ import annotations

from tunewright.budgets.cost import Timing
from tunewright.budgets.spending import length_of
from tunewright.design.names import Meaning
from tunewright.design.round import Round
from tunewright.errors import StoreError
from tunewright.execution.cadence import EVALUATIONS, period
from tunewright.store.store import Store

_MOST_ROUNDS = 5  # the latest ones: the program changes
_MOST_TRIALS = 100


def evaluations_of(steps: float | None, eval_every: int | None = None) -> float | None:
    """How often a training of so many steps is evaluated, if it follows the handle's cadence.

    >>> evaluations_of(1000), evaluations_of(30), evaluations_of(1000, eval_every=500)
    (100, 30, 2)
    """
    if not steps or steps < 1:
        return None
    return max(1.0, steps // (eval_every or period(int(steps), EVALUATIONS)))


def timings_of(
    store: Store, program: str, beside: str = "", eval_every: int | None = None
) -> tuple[Timing, ...]:
    """The completed trials of this program, latest round first, with their numbers of steps.

    Trials without a number of steps are left out: they are comparable with nothing. `beside` names
    a round that does not count.
    """
    timings: list[Timing] = []
    try:
        others = [record for record in store.rounds() if record.command == program]
        others = [
            record for record in others if record.name != beside and record.counts.get("completed")
        ]
        for record in sorted(others, key=lambda record: record.created, reverse=True)[
            :_MOST_ROUNDS
        ]:
            steps, batch = (record.meaning.name(n) for n in ("max_train_steps", "batch_size"))
            for trial in store.results_of_claimed(record).trials:
                length = length_of(trial.configuration, steps)
                if trial.status == "completed" and length:
                    size = length_of(trial.configuration, batch)
                    examples = None if size is None else size * length
                    often = evaluations_of(length, eval_every)
                    timings.append(Timing(trial.seconds, length, often, examples))
    except StoreError:  # an estimate is not worth a round that does not begin
        return ()
    return tuple(timings[:_MOST_TRIALS])


def seconds_elsewhere(
    store: Store, round: Round, program: str, meaning: Meaning
) -> tuple[float, ...]:
    """The lengths of completed trials of this program in other rounds, latest round first.

    Only trials that trained for as many steps as some trial of this round would count; without a
    number of steps in the configurations nothing is comparable.
    """
    lengths = round_lengths(round, meaning)
    if not lengths:
        return ()
    known = timings_of(store, program, beside=round.name)
    return tuple(timing.seconds for timing in known if timing.steps in lengths)


def round_lengths(round: Round, meaning: Meaning) -> frozenset[float]:
    """The numbers of steps that some trial of the round trains for."""
    name = meaning.name("max_train_steps")
    lengths = (
        length_of({**{f.name: f.value for f in study.fixed}, **study.scientific}, name)
        for study in round.studies
    )
    return frozenset(length for length in lengths if length is not None)
