"""Campaigns as a store keeps them: definitions, steps in order, the rounds that belong to one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.record_parts import a_round, begin

from tunewright.errors import Damaged, NotFound
from tunewright.messages import Message
from tunewright.store import campaigns
from tunewright.store.store import Store

WHY = Message("foreign", {"source": "campaign", "text": "to see more"})


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "tuning.db") as opened:
        yield opened


def test_a_campaign_is_found_by_its_name_with_its_newest_definition(store) -> None:
    database = store._database
    key = campaigns.add(database, "one", {"trials": 50})
    other = campaigns.add(database, "two", {"trials": 10})
    assert campaigns.add(database, "one", {"trials": 80, "until": float("inf")}) == key != other
    found = campaigns.find(database, "one")
    assert (found.id, found.name, found.definition["trials"]) == (key, "one", 80)
    assert [one.name for one in campaigns.every(database)] == ["one", "two"]
    assert campaigns.find(database, "three") is None


def test_steps_are_numbered_in_each_campaign(store) -> None:
    database = store._database
    one, two = (campaigns.add(database, name, {}) for name in ("one", "two"))
    begin(store)
    assert campaigns.add_step(database, one, "explore", WHY, "depth") == 1
    assert campaigns.add_step(database, two, "explore", WHY) == 1
    assert campaigns.add_step(database, one, "launch", Message("stopped.asked")) == 2
    first, second = campaigns.steps(database, one)
    assert (first.number, first.kind, first.reason, first.round) == (1, "explore", WHY, "depth")
    assert (second.number, second.reason.code, second.round, second.probe) == (
        2,
        "stopped.asked",
        "",
        None,
    )
    assert first.written <= second.written


def adopted(store, name: str, campaign: str, purpose: str) -> None:
    record = begin(store, a_round(name))
    with store._database.writing() as connection:
        campaigns.adopt(store._database, connection, record.id, campaign, purpose)


def test_a_round_belongs_to_the_campaign_that_began_it_and_its_step_gets_it(store) -> None:
    database = store._database
    key = campaigns.add(database, "one", {})
    campaigns.add(database, "two", {})
    campaigns.add_step(database, key, "explore", WHY)
    adopted(store, "first", "one", "explore")
    adopted(store, "probe.rate", "one", campaigns.PROBE)
    assert campaigns.rounds_of(database, key) == [("first", "explore"), ("probe.rate", "probe")]
    assert campaigns.steps(database, key)[0].round == "first"
    adopted(store, "first", "two", "explore")  # it has a campaign already
    assert campaigns.rounds_of(database, key)[0] == ("first", "explore")
    assert store.round("first").campaign == "one"


def test_a_round_of_another_kind_leaves_the_newest_step_alone(store) -> None:
    database = store._database
    key = campaigns.add(database, "one", {})
    campaigns.add_step(database, key, "explore", WHY)
    adopted(store, "longer", "one", "train_longer")
    assert campaigns.steps(database, key)[0].round == ""


def test_an_answer_is_linked_to_the_newest_probe_step_once(store) -> None:
    database = store._database
    key = campaigns.add(database, "one", {})
    for _ in range(2):
        campaigns.add_step(database, key, campaigns.PROBE, WHY)
    answers = [store.add_probe("clip", "train", {}, metric="e") for _ in range(2)]
    for answer in answers:
        campaigns.link_probe(database, key, answer)
    assert [one.probe for one in campaigns.steps(database, key)] == [None, answers[0]]


def test_a_round_cannot_belong_to_a_campaign_that_is_not_there(store) -> None:
    with pytest.raises(NotFound) as refused:
        adopted(store, "first", "none", "explore")
    assert refused.value.code == "campaign.not_in_store"


@pytest.mark.parametrize("altered", ["", "[1, 2]"])
def test_a_step_whose_reason_was_altered_is_damaged(store, altered: str) -> None:
    database = store._database
    key = campaigns.add(database, "one", {})
    campaigns.add_step(database, key, "explore", WHY)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("UPDATE campaign_step SET reason = ?", (altered,))
        connection.commit()
    if altered:
        (found,) = campaigns.steps(database, key)
        assert found.reason != WHY
    else:
        with pytest.raises(Damaged):
            campaigns.steps(database, key)
