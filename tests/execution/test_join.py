"""A worker that joins a round: it takes the round and its search from the store."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.problems import states

import tunewright as tw
from tunewright.errors import DesignError, NotFound
from tunewright.execution.join import as_begun, search_of
from tunewright.execution.run import supervise
from tunewright.search.search import Search

ROUND = tw.Round(
    "rate", goal="Which rate?", nuisance={"learning_rate": tw.log(1e-3, 1.0)}, trials_per_study=6
)


def train(run: tw.protocols.Run, learning_rate: float) -> None:
    for step in run.steps(3):
        run.log(step, valid_error=learning_rate / step)


def workload(folder: Path, train: Any = train) -> tw.Workload:
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=folder / "tuning.db",
        executor=tw.executors.Inline(),
    )


def begun(own: tw.Workload, search: Search | None = None) -> None:
    """The round with its first two trials."""
    assert supervise(ROUND, own, search=search, trials=2).counts["completed"] == 2


SEARCHES: list[Search] = [
    tw.search.Halton(),
    tw.search.Bayesian(),
    tw.search.Listed([{"learning_rate": rate} for rate in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda one: one.name)
def test_it_continues_with_the_search_that_the_round_began_with(
    tmp_path: Path, search: Search
) -> None:
    own = workload(tmp_path)
    begun(own, search)
    results = tw.worker("rate", own)
    assert (results.search, results.counts) == (search.name, {"completed": 6})
    if isinstance(search, tw.search.Listed):
        assert [t.configuration["learning_rate"] for t in results.trials][-1] == 0.6


def test_it_shares_the_trials_with_the_process_that_runs_the_round(tmp_path: Path) -> None:
    began, helped = threading.Event(), threading.Event()

    def slow(run: tw.protocols.Run, learning_rate: float) -> None:
        """The supervisor's first trial lasts until the worker has trained all others."""
        began.set()
        assert helped.wait(60)
        train(run, learning_rate)

    def last(run: tw.protocols.Run, learning_rate: float) -> None:
        train(run, learning_rate)
        trained.append(run.number)
        if len(trained) == ROUND.trials - 1:
            helped.set()

    trained: list[int] = []
    supervisor = threading.Thread(target=supervise, args=(ROUND, workload(tmp_path, slow)))
    supervisor.start()
    try:
        assert began.wait(60)
        results = tw.worker(ROUND, workload(tmp_path, last), max_hours=1)
    finally:
        helped.set()
        supervisor.join(60)
    assert results.counts == {"completed": 6}
    assert sorted(trained) == [1, 2, 3, 4, 5]


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    own = workload(tmp_path)
    with pytest.raises(NotFound):
        tw.worker("rate", own)
    begun(own)
    with pytest.raises(NotFound) as unknown:
        tw.worker("raet", own)
    assert unknown.value.remedy is not None
    with pytest.raises(DesignError) as refused:
        tw.worker(7, own)  # type: ignore[arg-type]
    assert states(refused.value, "join.not_a_round")


class Mine(tw.search.Halton):
    """A search that only its author's program has."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return "mine"


def test_a_search_of_your_own_is_passed_again(tmp_path: Path) -> None:
    own = workload(tmp_path)
    begun(own, Mine())
    with pytest.raises(DesignError) as refused:
        tw.worker("rate", own)
    assert states(refused.value, "join.unknown_search", {"search": "mine", "round": "rate"})
    assert tw.worker("rate", own, search=Mine()).counts == {"completed": 6}


def test_the_round_is_the_one_of_the_store(tmp_path: Path) -> None:
    own = workload(tmp_path)
    begun(own)
    asked, search = as_begun(own.store, "rate")
    assert (asked.trials_per_study, search.name) == (6, "halton")
    assert search_of(tw.load(own.store, "rate")).name == "halton"
