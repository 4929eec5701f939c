"""Launch decisions and baselines in the store point to the trials they are about."""

from __future__ import annotations

import pytest
from tests.store.record_parts import begin, rows

from tunewright.errors import NotFound
from tunewright.store.launches import Place, Receipt
from tunewright.store.schema import baseline, launch
from tunewright.store.store import Store

RECEIPT = Receipt("me@here", "why \x00 not", "Do more layers help?", "abc")


def test_a_launch_refers_to_its_trials(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        one, other = (Place("depth", t.number or 0, t.configuration)
                      for t in store.results("depth").trials[:2])  # fmt: skip
        decision = {"verdict": "launch", "method": "paired by split", "gain": float("inf")}
        key = store.add_launch(decision, other, one, RECEIPT)
        store.add_baseline(key, runs=3)
        (own,) = store.launches()
        assert (own.key, own.candidate, own.baseline) == (key, other, one)
        assert own.decision == {**decision, "gain": None}
        assert (own.who, own.goal, own.commit) == (RECEIPT.who, RECEIPT.goal, RECEIPT.commit)
        (made,) = store.baselines()
        assert (made.place, made.launch, made.runs) == (other, key, 3)
        (row,), (based,) = rows(store, launch), rows(store, baseline)
        assert (row["round"], row["method"]) == (record.id, "paired by split")
        assert based["trial"] == row["candidate"] != row["baseline"]


def test_a_trial_that_is_not_there_is_not_launched(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        for place in (Place("depth", 99, {}), Place("width", 0, {})):
            with pytest.raises(NotFound):
                store.add_launch({"verdict": "keep"}, place, None, RECEIPT)
        assert store.launches() == []
