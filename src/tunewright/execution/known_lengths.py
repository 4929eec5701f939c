"""How long the same program took in other rounds: an estimate before any trial has ended."""

from __future__ import annotations

from tunewright.design.names import Meaning
from tunewright.design.round import Round
from tunewright.errors import StoreError
from tunewright.store.store import Store

_MOST_ROUNDS = 5  # the latest ones: the program changes
_MOST_TRIALS = 100


def known_seconds(store: Store, round: Round, program: str, meaning: Meaning) -> tuple[float, ...]:
    """The lengths of completed trials of this program in other rounds, latest round first.

    Only trials that trained for as many steps as some trial of this round would count; without a
    number of steps in the configurations nothing is comparable.
    """
    name = meaning.name("max_train_steps")
    lengths = {
        value
        for study in round.studies
        for value in (study.scientific.get(name), *(f.value for f in study.fixed if f.name == name))
        if value is not None
    }
    if not lengths:
        return ()
    found: list[float] = []
    try:
        others = [one for one in store.rounds() if one.command == program]
        others = [one for one in others if one.name != round.name and one.counts.get("completed")]
        for one in sorted(others, key=lambda one: one.created, reverse=True)[:_MOST_ROUNDS]:
            steps = one.meaning.name("max_train_steps")
            found += [
                trial.seconds
                for trial in store.claimed(one).trials
                if trial.status == "completed" and trial.configuration.get(steps) in lengths
            ]
    except StoreError:  # an estimate is not worth a round that does not begin
        return ()
    return tuple(found[:_MOST_TRIALS])
