"""The verb `worker`: join a round that others run, with the search that it began with.

On several machines the store is a postgresql:// address that all of them reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.run import report_end, run_round
from tunewright.execution.workload import Workload
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.halton import Halton
from tunewright.search.listed import Listed
from tunewright.search.search import Search
from tunewright.store.results import Results
from tunewright.store.store import Store

LISTED = "listed"  # as the store calls a list of configurations
# whether a round may use Bayesian search was checked when it began
_SEARCHES: Mapping[str, Callable[[], Search]] = {
    "halton": Halton,
    "bayesian": lambda: Bayesian(scientific=True),
}


def worker(
    round: str | Round,
    workload: Workload,
    search: Search | None = None,
    max_hours: float | None = None,
    *,
    early_stopping: bool = False,
) -> Results:
    """Train trials of a round that others run, until none of them is left; the round as recorded.

    The round is taken from the workload's store by its name, and so is the search that it began
    with; a search of your own that it began with is passed again as `search`. After `max_hours` no
    new trial begins here. Ctrl-C works as in `tw.run`: the others continue.

        results = tw.worker("depth", workload)  # in a second process, or on another machine

    Args:
        round: the name of a round in the workload's store, or the round.
        workload: the same training program as that of the others.
        search: the user's own search that the round began with; None: one of ours.
        max_hours: after so many hours no new trial begins here; None: no limit.
        early_stopping: whether to stop trials that train here and cannot win, as in `tw.run`, by
            the finished trials of all workers.
    """
    name = round.name if isinstance(round, Round) else round
    if not isinstance(name, str):
        raise DesignError("join.not_a_round", round=round)
    declared, first_search = as_begun(workload.store, name, search)
    results, summary, interrupt = run_round(
        declared,
        workload,
        search=first_search,
        max_hours=max_hours,
        join=True,
        early_stopping=early_stopping,
    )
    report_end(name, summary, interrupt)
    return results


def as_begun(
    store: str | os.PathLike[str], name: str, search: Search | None = None
) -> tuple[Round, Search]:
    """A round of the store, and the search that it began with."""
    with Store.open(store, create=False) as opened:
        record = opened.round(name)
        if search is None:
            search = search_of(opened.results(name))
    return record.round, search


def search_of(results: Results) -> Search:
    """The search that a recorded round began with."""
    if results.search == LISTED:
        return list_of_round(results)
    if results.search not in _SEARCHES:
        raise DesignError(
            "join.unknown_search",
            search=results.search,
            round=results.round.name,
            known=[*_SEARCHES, LISTED],
        )
    return _SEARCHES[results.search]()


def list_of_round(results: Results, round: Round | None = None) -> Listed:
    """The configurations that a recorded round lists, as far as the round names them.

    The store also has what the training function's signature fixes, which a round leaves out.
    """
    names = (round or results.round).names
    return Listed(
        [
            {name: value for name, value in trial.configuration.items() if name in names}
            for trial in results.rows
            if trial.index is not None  # not added by hand later
        ]
    )
