"""A Bayesian search that learns from the trials of the rounds which a round continues."""

from __future__ import annotations

import os
from dataclasses import replace

from tunewright.design.objective import Objective
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.search import Search
from tunewright.store.joined import earlier_rounds
from tunewright.store.store import Store


def learning_from_earlier(
    search: Search, round: Round, store: str | os.PathLike[str], objective: Objective
) -> Search:
    """The search, with the earlier rounds of the store; one that was given its own keeps them."""
    if not isinstance(search, Bayesian) or not round.continues or search.earlier:
        return search
    try:
        with Store.open(store, create=False) as opened:
            before = earlier_rounds(opened, round)
    except NotFound:  # nothing was recorded yet
        return search
    return replace(
        search, earlier=[round_results.with_objective(objective) for round_results in before]
    )
