"""Answers of probes in the store: by the workload they are about, or by the campaign."""

from __future__ import annotations

import math

import pytest

from tunewright.errors import NotFound
from tunewright.store.store import Store

STRANGE = "train \x00 \ud800 {config}" + "x" * 5000  # a command may hold anything


def test_answers_are_found_by_their_workload(store_url: str) -> None:
    with Store.open(store_url) as store:
        told = {"settings": {"batch_size": 8}, "rate": math.nan}
        key = store.add_probe("batch_size", "a.train", told, metric="loss")
        store.add_probe("batch_size", "b.train", {"settings": {"batch_size": 4096}})
        store.add_probe("clip", STRANGE, {})
        (own,) = store.probes("a.train")
        assert (own.id, own.name, own.metric, own.campaign) == (key, "batch_size", "loss", None)
        assert own.settings == {"batch_size": 8}
        assert own.answer == {"settings": {"batch_size": 8}, "rate": None}
        assert [one.workload for one in store.probes(name="batch_size")] == ["a.train", "b.train"]
        assert len(store.probes(STRANGE)) == 1
        assert store.probes("c.train") == []


def test_answers_belong_to_the_campaign_that_asked(store_url: str) -> None:
    with Store.open(store_url) as store:
        key = store.add_campaign("tune", {})
        store.add_probe("clip", "train", {"settings": {}})
        mine = store.add_probe("clip", "train", {"settings": {}}, campaign="tune")
        assert [one.id for one in store.probes(campaign=key)] == [mine]
        with pytest.raises(NotFound, match="no campaign 'nobody'"):
            store.add_probe("clip", "train", {}, campaign="nobody")
        assert len(store.probes()) == 2
