"""Quasi-random or Bayesian? Picked by the round's question, its budget, and what runs at once."""

from __future__ import annotations

from dataclasses import dataclass

from tunewright.design.round import Round
from tunewright.search.bayesian.bayesian import Bayesian, first_trials
from tunewright.search.halton import Halton
from tunewright.search.search import Search

_LEAST_ROUNDS = 5  # how often all workers must come back for a model to be worth its while


@dataclass(frozen=True)
class Picked:
    """A search, and why it is this one."""

    search: Search
    reason: str


def pick(round: Round, workers: int) -> Picked:
    """The search for a round that runs so many trials at a time.

    Eight at a time of 48, a Bayesian search still beats quasi-random search with twice the trials
    in most runs (docs/methods_search.md); with fewer turns than that nobody has measured it ahead.

    >>> from tunewright.design.ranges import log
    >>> rate = Round("rate", goal="?", nuisance={"rate": log(1e-4, 1e-1)}, trials_per_study=50)
    >>> print(pick(rate, workers=4).reason)
    Bayesian: 50 trials, 4 at a time, leave it 12 turns to learn from, and nothing is compared
    >>> print(pick(rate, workers=25).reason)
    quasi-random: 50 trials, 25 at a time, leave 2 turns, too few to learn from
    """
    trials = round.trials_per_study
    turns = trials // max(workers, 1)
    if round.scientific:
        names = ", ".join(round.scientific)
        return Picked(
            Halton(), f"quasi-random: what {names} does is compared on the same, even points"
        )
    study = round.studies[0]
    if not study.space:
        return Picked(Halton(), "quasi-random: there is nothing to search")
    together = f"{trials} trials, {workers} at a time"
    first = first_trials(study)
    if trials < 2 * first:
        return Picked(
            Halton(),
            f"quasi-random: {trials} trials are too few; a model of this space learns from the "
            f"first {first}, and wants as many again",
        )
    if turns < _LEAST_ROUNDS:
        left = "1 turn" if turns == 1 else f"{turns} turns"
        return Picked(Halton(), f"quasi-random: {together}, leave {left}, too few to learn from")
    return Picked(
        Bayesian(),
        f"Bayesian: {together}, leave it {turns} turns to learn from, and nothing is compared",
    )
