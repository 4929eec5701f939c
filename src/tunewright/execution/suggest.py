"""A search at work: what the store asks of it, and the claimed trials that it fills.

Claimed trials without a configuration get it outside any lock.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

from tunewright.design.study import Study
from tunewright.errors import OutOfDate
from tunewright.messages import Message
from tunewright.search.search import Positional, Search, Suggestion, search_trials
from tunewright.store.claims import At, Suggestions
from tunewright.store.outcome import Outcome
from tunewright.store.results import Results
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Claim

Answer = TypeVar("Answer")


def suggestions(search: Search) -> Suggestions | None:
    """How the store asks for a study's first configurations; None for an adaptive search."""
    if search.adaptive:
        return None

    def first(study: Study, count: int) -> Sequence[Suggestion]:
        return search.suggest(study, (), count)

    return first


def by_position(search: Search) -> At | None:
    """How the store asks for the configuration at any position; None where a search knows none."""
    return search.at if isinstance(search, Positional) and not search.adaptive else None


def meanwhile(think: Callable[[], Answer], work: Callable[[], None] | None) -> Answer:
    """What `think` answers; if there is `work`, it is called over and over until then.

    A model-based search may think for a long time. What ends meanwhile must reach the disk.

    >>> meanwhile(lambda: 2 + 2, None)
    4
    """
    if work is None:
        return think()
    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(think())
        except BaseException as error:  # raised where the answer is awaited
            answer.set_exception(error)

    threading.Thread(target=run, name="tunewright-search", daemon=True).start()
    while not answer.done():
        work()
    return answer.result()


def fill_claims(
    store: Store,
    record: RoundRecord,
    search: Search,
    claims: Sequence[Claim],
    work: Callable[[], None] | None = None,
) -> tuple[list[Claim], bool]:
    """These claims with a configuration each, and whether the search had enough for all.

    Those it has none for are given back. `work` is done again and again while the search thinks.
    """
    empty = [claim for claim in claims if claim.configuration is None]
    if not empty:
        return list(claims), True
    enough = True
    results = store.results_of_claimed(record)
    known: dict[int, Claim] = {}
    for study in results.studies:
        unfilled = [claim for claim in empty if claim.study == study.number]
        if not unfilled:
            continue
        suggested = meanwhile(functools.partial(_suggest, search, results, study, unfilled), work)
        for claim, point in zip(unfilled, suggested, strict=False):
            try:
                store.fill(claim, point.configuration, point.unit)
            except OutOfDate:
                continue  # taken from us meanwhile: its new owner fills it
            known[claim.trial] = replace(
                claim, configuration=dict(point.configuration), unit=dict(point.unit)
            )
        for claim in unfilled[len(suggested) :]:
            store.end(claim, Outcome("stopped", Message("stopped.no_suggestion")))
            enough = False
    ready = [
        known.get(claim.trial, claim)
        for claim in claims
        if claim.configuration is not None or claim.trial in known
    ]
    return ready, enough


def _suggest(
    search: Search, results: Results, study: Study, claims: Sequence[Claim]
) -> list[Suggestion]:
    """A configuration for each of these claims of a study, fewer if the search has no more."""
    if isinstance(search, Positional) and not search.adaptive:
        return [search.at(study, claim.index or 0, 1)[0] for claim in claims]
    # claimed and ended trials are the search's state; those to be filled now are not
    return search.suggest(study, search_trials(results, study), len(claims))
