"""Results that were made elsewhere are kept and read like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.store.record_parts import a_round, some_results

from tunewright.errors import NotFound, RoundChanged
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.store import Store


def told(results: Results) -> list[Any]:
    trials = [*results.trials, *results.repeats(4)]
    return [
        (
            *(t.number, t.study, t.index, t.configuration, t.status, t.reason, t.value, t.parent),
            *((m, c.steps.tolist(), str(c.values.tolist())) for m, c in t.curves.items()),
        )
        for t in trials
    ]


def test_what_is_kept_comes_back(store_url: str) -> None:
    made = replace(
        some_results(), notes=("guessed", Message("imported.pruned", {"count": 2})), search="random"
    )
    with Store.open(store_url) as store:
        record = store.keep(made, "imported by a test")
        assert record.counts == {"completed": 6}, "judged on reading, as ever"
        found = store.results("depth")
        assert told(found) == told(made)
        assert found.notes == made.notes and found.search == "random"
        assert found.infeasible_fraction == made.infeasible_fraction
        assert store.claim(record.id, store.register(record.id, "worker", False), 9) == []
        with pytest.raises(RoundChanged, match="in the database already"):
            store.keep(made)
        assert len(store.rounds()) == 1


def test_only_trials_that_ended_are_kept(store_url: str) -> None:
    made = some_results()
    pending = [replace(t, status="pending") for t in made.recorded]
    with Store.open(store_url) as store:
        with pytest.raises(NotFound, match="no trial has ended"):
            store.keep(replace(made, recorded=tuple(pending)))
        assert store.rounds() == [], "nothing is written by halves"
        store.keep(replace(made, recorded=(*pending[:5], *made.recorded[5:]), round=a_round("one")))
        assert [t.number for t in store.results("one").trials] == [5]
