"""Earlier rounds' trials beside a round's own, where it continues them."""

from __future__ import annotations

from dataclasses import replace

from tunewright.cli._project import open_store
from tunewright.design.objective import Objective
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.search import Search
from tunewright.store.joined import earlier_rounds, with_earlier
from tunewright.store.results import Results
from tunewright.store.store import Store


def read_joined(round: str, store: str | None) -> Results:
    """The round's results, with the earlier trials that fit it."""
    with open_store(store) as opened:
        return with_earlier(opened, round)


def learning_from_earlier(search: Search, round: Round, store: str, objective: Objective) -> Search:
    """A Bayesian search that also knows the trials of the rounds this one continues."""
    if not isinstance(search, Bayesian) or not round.continues:
        return search
    try:
        with Store.open(store, create=False) as opened:
            return knowing_earlier(search, round, opened, objective)
    except NotFound:  # nothing was recorded yet
        return search


def knowing_earlier(search: Bayesian, round: Round, store: Store, objective: Objective) -> Bayesian:
    """The same of a store that is open: the line of rounds behind this one, by its objective."""
    earlier = earlier_rounds(store, round)
    return replace(search, earlier=[own.with_objective(objective) for own in earlier])
