"""Earlier rounds' trials beside a round's own, where it continues them: reading, and saying so."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tunewright.cli import words
from tunewright.cli.project_folder import open_store
from tunewright.design.objective import Objective
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.record.joined import earlier_rounds, with_earlier
from tunewright.record.results import Results
from tunewright.record.store import Store
from tunewright.search.bayesian import Bayesian
from tunewright.search.search import Search


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
            earlier = earlier_rounds(opened, round)
    except NotFound:  # nothing was recorded yet
        return search
    return replace(search, earlier=[own.with_objective(objective) for own in earlier])


def earlier_line(results: Results) -> str:
    """How many earlier trials count too, and of which rounds; empty without any."""
    counted = Counter(trial.origin[0] for trial in results.trials if trial.origin)
    if not counted:
        return ""
    of = ", ".join(f"{number} of {words.printable(name)}" for name, number in counted.items())
    verb = "counts" if sum(counted.values()) == 1 else "count"
    return f"{words.count(sum(counted.values()), 'earlier trial')} {verb} too: {of}"
