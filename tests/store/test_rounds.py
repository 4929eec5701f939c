"""Beginning and continuing rounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.store.record_parts import Point, a_round, begin, begun, complete, points

from tunewright.design.names import Meaning
from tunewright.design.objective import maximize
from tunewright.design.ranges import log
from tunewright.errors import RoundChanged
from tunewright.store.store import Store


def test_numbers_are_balanced_over_the_studies(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        trials = store.results("depth").trials
        assert [(t.number, t.study, t.index) for t in trials] == [
            (0, 0, 0),
            (1, 1, 0),
            (2, 0, 1),
            (3, 1, 1),
            (4, 0, 2),
            (5, 1, 2),
        ]


def test_the_same_round_continues_and_says_so(store_url: str) -> None:
    with Store.open(store_url) as store:
        first = begin(store)
        again = begin(store, a_round(goal="Asked better?"))
        assert again.continued and again.id == first.id
        assert store.round("depth").round.goal == "Asked better?"
        assert again.counts == {"pending": 6}


def test_raising_the_trials_adds_rows_and_lowering_keeps_all(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        complete(store, store.claim(record.id, worker, 1)[0], 0.1)
        before = store.results("depth").trials
        begin(store, a_round(trials_per_study=5))
        trials = store.results("depth").trials
        assert [t.number for t in trials] == list(range(10))
        assert [t.configuration for t in trials[:6]] == [t.configuration for t in before]
        assert trials[0].status == "completed"
        begin(store, a_round(trials_per_study=2))
        assert len(store.results("depth").trials) == 10
        assert store.round("depth").round.trials_per_study == 5


def test_raised_trials_pass_over_numbers_added_by_hand(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        own = store.add(record.id, worker, {"layers": 1, "learning_rate": 0.1}, 0, {})
        assert own.number == 6
        begin(store, a_round(trials_per_study=4))
        trials = store.results("depth").trials
        assert [t.number for t in trials] == list(range(9))
        assert [(t.study, t.index) for t in trials[6:]] == [(0, None), (0, 3), (1, 3)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"nuisance": {"learning_rate": log(1e-4, 1.0)}}, "learning_rate"),
        ({"fixed": {"batch_size": 256}}, "batch_size"),
        ({"seed": 7}, "seed"),
        ({"scientific": {"layers": [1, 2, 3]}}, "layers"),
    ],
)
def test_a_changed_round_is_refused_with_the_difference(
    store_url: str, change: dict[str, Any], says: str
) -> None:
    with Store.open(store_url) as store:
        begin(store)
        before = store.results("depth").trials
        with pytest.raises(RoundChanged, match=says) as refused:
            begin(store, a_round(**change))
        assert refused.value.code == "round.changed"
        assert store.results("depth").trials == before


def test_a_changed_objective_or_search_is_refused_with_the_way_out(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        with pytest.raises(RoundChanged, match="with_objective"):
            begin(store, objective=maximize("accuracy"))
        with pytest.raises(RoundChanged, match="search: was halton, is bayesian"):
            begin(store, search="bayesian", suggestions=None)

        def others(study: Any, count: int) -> list[Point]:
            return [
                dataclasses.replace(p, configuration={"layers": 7}) for p in points(study, count)
            ]

        with pytest.raises(RoundChanged, match="suggested"):
            begin(store, suggestions=others)


def test_last_digits_that_differ_between_machines_are_no_change(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)

        def rounded(study: Any, count: int) -> list[Point]:
            return [
                Point(
                    {
                        **p.configuration,
                        "learning_rate": p.configuration["learning_rate"] * (1 + 2e-16),
                    }
                )
                for p in points(study, count)
            ]

        assert begin(store, suggestions=rounded).continued


def test_meanings_are_taken_over_since_they_are_judged_on_reading(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        store.begin(
            a_round(),
            store.round("depth").objective,
            Meaning({"learning_rate": "lr", "regularisers": ["wd"]}, {"dropout": 0.0}),
            search="halton",
            suggestions=points,
        )
        meaning = store.results("depth").meaning
        assert meaning.name("learning_rate") == "lr" and meaning.off == {"dropout": 0.0}
        assert meaning.regularisers == ("wd",)


def test_a_search_with_fewer_configurations_makes_fewer_trials(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store, suggestions=lambda study, count: points(study, min(count, 2)))
        assert record.counts == {"pending": 4}


def test_rounds_are_listed_oldest_first(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store, a_round("b"))
        begin(store, a_round("a"))
        assert [r.name for r in store.rounds()] == ["b", "a"]
        assert len({r.directory for r in store.rounds()}) == 2
