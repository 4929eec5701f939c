"""What belongs to a campaign by foreign key: the rounds and probes that it asked for itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.campaigns.known_worlds import SPACE, train, train_stepping, workload

import tunewright as tw
from tunewright.campaigns.campaign import keep_definition, read_campaign, read_definition
from tunewright.campaigns.request import define
from tunewright.campaigns.tune import carry_out, tune
from tunewright.execution.run import run
from tunewright.execution.workload import Purpose
from tunewright.messages import Message
from tunewright.probes.probe import add_answer, run_listed
from tunewright.store.store import Store

LARGE = {"probe": "batch_size", "settings": {"batch_size": 4096}, "says": "4096 is fastest"}
RATES = {"learning_rate": tw.log(1e-5, 1.0)}


def read(own: tw.Workload, name: str = "tune"):
    with Store.open(own.store) as store:
        definition = read_definition(store, name)
        assert definition is not None
        return read_campaign(store, definition)


@pytest.mark.parametrize("prober", [train, train_stepping])
def test_a_probe_that_it_did_not_ask_for_changes_no_fixed_value(tmp_path, prober) -> None:
    own = workload(tmp_path, train_stepping)
    asked = define(own, {**RATES, "batch_size": 64}, 200, None, name="tune")
    with Store.open(own.store) as store:
        keep_definition(store, asked)
        # another workload, and the same one by hand
        add_answer(store, replace(own, train=prober), "batch_size", LARGE)
    campaign = read(own)
    assert campaign.probes == ()
    assert campaign.space.fixed["batch_size"] == 64


def test_rounds_of_a_probe_that_it_did_not_ask_for_cost_it_nothing(tmp_path) -> None:
    own = workload(tmp_path)
    points = [{"learning_rate": 0.1}, {"learning_rate": 0.2}]
    with Store.open(own.store) as store:
        keep_definition(store, define(own, SPACE, 40, None, name="tune"))
    run_listed("stability", "by hand", own, points, {})
    assert read(own).probe_trials == 0
    mine = replace(own, purpose=Purpose("tune", "probe"))
    run_listed("stability", "the campaign's", mine, points, {"dropout": 0.1})
    campaign = read(own)
    assert (campaign.probe_trials, campaign.rounds, campaign.spent) == (2, (), 2)


def test_a_round_that_is_only_named_alike_is_not_its_own(tmp_path) -> None:
    own = workload(tmp_path)
    tune(own, SPACE, trials=4)
    run(tw.Round("tune_9_explore", goal="mine", nuisance=RATES, trials_per_study=2), own)
    campaign = read(own)
    assert [r.round.name for r in campaign.rounds] == ["tune_1_explore"]
    assert campaign.spent == 4


def test_a_step_gets_its_round_when_that_begins(tmp_path) -> None:
    own = workload(tmp_path)
    asked = define(own, SPACE, 6, None, name="tune")
    seen = []

    def look(step, campaign) -> None:
        seen.append([one.round for one in read(own).log])

    campaign = carry_out(asked, own, tell=look).campaign
    assert [step.round for step in campaign.log] == ["tune_1_explore", "tune_1_explore"]
    assert seen == [[], ["tune_1_explore"]]
    with Store.open(own.store) as store:
        record = store.round("tune_1_explore")
        assert (record.campaign, record.purpose) == ("tune", "explore")
        assert store.campaign_rounds(store.campaign("tune").id) == [("tune_1_explore", "explore")]


def test_a_changed_budget_is_the_same_campaign(store_url) -> None:
    with Store.open(store_url) as store:
        key = store.add_campaign("tune", {"trials": 8})
        began = store.campaign("tune").created
        assert store.add_campaign("tune", {"trials": 24}) == key
        assert store.campaign("tune").definition == {"trials": 24}
        assert store.campaign("tune").created == began
        store.add_campaign("again", {"trials": 1})
        assert [one.name for one in store.campaigns()] == ["tune", "again"]
        reason = Message("campaign.pays_from", {"least": 100, "trials": 8})
        assert store.add_campaign_step(key, "explore", reason) == 1
        assert store.add_campaign_step(key, "probe", reason) == 2
        answer = store.add_probe("clip", "train", {"settings": {"clip": 1.0}}, campaign="tune")
        store.link_probe(key, answer)
        first, second = store.campaign_steps(key)
        assert (first.number, first.kind, first.reason) == (1, "explore", reason)
        assert (second.probe, first.probe) == (answer, None)
        assert store.campaign_steps(store.campaign("again").id) == []
        assert store.campaign("nobody") is None
