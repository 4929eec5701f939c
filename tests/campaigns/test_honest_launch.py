"""The end of a campaign: fresh runs decide, unlike things are not compared, the budget reaches."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.campaigns.known_worlds import SPACE, train_from_today, train_longer, workload
from tests.campaigns.test_plan import INSIDE, campaign, explored

import tunewright as tw
from tunewright.campaigns.campaign import (
    Contender,
    configurations,
    count_untried,
    read_campaign,
)
from tunewright.campaigns.plan import next_step, verdict_of
from tunewright.campaigns.request import TuneTerms, define
from tunewright.campaigns.tune import carry_out, tune
from tunewright.launches.lineage import Launched, Place
from tunewright.store.launches import Evaluation
from tunewright.store.store import Store

NOISY = replace(INSIDE, noise_sd=0.05)


def seedless(run, learning_rate=0.01, max_train_steps=10):
    for step in (1, max_train_steps):
        run.log(step, valid_error=abs(learning_rate - 0.1) + 1 / step)


def finite(run, opt="a", act=True, max_train_steps=10):
    luck = random.Random(f"{run.seeds.trial} {opt} {act}")
    for step in (1, max_train_steps):
        value = 0.1 * "abc".index(opt) + 0.05 * act + 0.01 * luck.gauss(0, 1)
        run.log(step, valid_error=0.5 + value + 1 / step)


def finished(results, trials=30, **repeats):
    """A campaign after its finalists were repeated, with repeats by the trial's number."""
    made = explored(NOISY, trials=trials, **repeats)
    base = explored(NOISY, trials=1, name="tune_2_baseline", t0=9)
    return campaign(made, base, trials=200, **results)


def test_the_runs_that_chose_the_winner_do_not_decide_its_launch():
    first, second = (t.number for t in explored(NOISY, trials=30).top(2))
    before = finished({}, **{f"t{first}": 2, f"t{second}": 2})
    number = before.winner.trial.number
    assert before.chose_by == 2 and not before.fresh.values
    own = finished({}, **{f"t{first}": 2, f"t{second}": 2, f"t{number}": 5})
    assert own.winner.trial.number == number and own.chose_by == 2
    verdict = verdict_of(own)
    assert verdict.candidate_values == own.winner.repeats.values[2:]
    assert len(verdict.candidate_values) == len(verdict.baseline_values) == 3
    assert verdict.false_launch_rate <= 0.25


def test_a_campaign_asks_for_fresh_runs_of_the_winner_and_as_many_of_the_baseline(tmp_path):
    campaign = tune(workload(tmp_path, train_from_today), SPACE, trials=30)
    decision = campaign.launched.decision
    assert campaign.launched.verdict == "launch" and campaign.spent <= 30
    assert list(campaign.fresh.values)[: len(decision["candidate_values"])] == list(
        decision["candidate_values"]
    )
    assert len(decision["candidate_values"]) == len(decision["baseline_values"]) >= 3


def test_two_finalists_are_two_points():
    made = explored(trials=20)
    best, twin, *_ = made.top(3)
    near = {n: v * 1.0005 for n, v in best.configuration.items()}
    moved = tuple(
        replace(t, configuration=near) if t.number == twin.number else t for t in made.recorded
    )
    own = campaign(replace(made, recorded=moved))
    chosen = [one.trial.number for one in own.finalists(2)]
    assert chosen[0] == best.number and twin.number not in chosen and len(chosen) == 2


def test_a_program_without_its_seed_ends_its_campaign(tmp_path):
    asked = {"learning_rate": tw.log(1e-3, 1.0), "max_train_steps": 10}
    own = workload(tmp_path, seedless)
    definition = define(own, asked, 20, None, name="tune", tests=True)
    ending = carry_out(definition, own, lambda c: {"t": 1})
    assert ending.step.reason.code == "campaign.identical_repeats"
    assert ending.campaign.launched is None and not ending.campaign.looks
    declared = replace(own, deterministic=True)
    after = tune(declared, asked, trials=20)
    assert after.launched.verdict == "launch"
    assert after.launched.decision["probability"] is None


def test_a_deterministic_program_is_never_repeated(tmp_path):
    asked = {"learning_rate": tw.log(1e-3, 1.0), "max_train_steps": 10}
    found = tune(workload(tmp_path, seedless, deterministic=True), asked, trials=20)
    assert not any(r.recorded_repeats for r in found.rounds)
    assert found.launched.verdict == "launch" and found.spent <= 20


def test_a_finite_space_comes_to_its_end(tmp_path):
    space = {"opt": ["a", "b", "c"], "act": [True, False], "max_train_steps": 10}
    own = workload(tmp_path, finite)
    found = tune(own, space, trials=30)
    assert found.launched is not None
    assert all(t.ended for r in found.rounds for t in r.trials)
    assert found.best == {"opt": "a", "act": False, "max_train_steps": 10}
    assert configurations(found.space) == 6
    assert count_untried(found.space, found.searched) >= 0


@pytest.mark.parametrize("trials", [16, 18, 20, 24])
def test_with_longer_training_the_budget_reaches_to_the_launch(tmp_path, trials):
    space = {**SPACE, "max_train_steps": 10}

    def train(run, learning_rate=1e-4, dropout=0.0, max_train_steps=10):
        train_longer(run, learning_rate, dropout, max_train_steps)

    found = tune(workload(tmp_path, train), space, trials=trials, terms=TuneTerms(extend=10))
    assert found.launched is not None and found.launched.baseline is not None
    assert found.spent <= trials


def test_a_baseline_of_another_length_is_trained_as_long(tmp_path):
    own = workload(tmp_path, train_from_today)
    first = tune(own, {**SPACE, "max_train_steps": 12}, trials=16, name="first")
    assert first.launched.verdict == "launch"
    shorter = tune(own, {**SPACE, "max_train_steps": 6}, trials=16, name="second")
    assert shorter.definition.incumbent is None
    assert shorter.definition.retrained == first.winner.place
    assert shorter.baseline.trial.configuration["max_train_steps"] == 6
    rate = first.winner.trial.configuration["learning_rate"]
    assert shorter.baseline.trial.configuration["learning_rate"] == rate
    assert any(s.reason.code == "campaign.retrained_baseline" for s in shorter.log)
    same = tune(own, {**SPACE, "max_train_steps": 12}, trials=8, name="third")
    assert same.definition.incumbent is not None and same.definition.retrained is None


def looked(results, number, look=1):
    found = results.trial(number)
    return Evaluation(
        found.identity, 0, 10, {"test_error": 0.1}, "t", "w", "valid_error", 0.1, look
    )


def test_the_test_set_is_spared_until_something_was_decided():
    base = explored(trials=1, name="tune_1_baseline")
    small = campaign(base, explored(trials=7), trials=8, tests=True, default={"dropout": 0.1})
    assert small.launched is None and next_step(small).kind == "done"


def test_a_look_at_another_configuration_is_not_the_winners():
    first = explored(trials=6)
    told = tuple(replace(t, identity=1 + (t.number or 0)) for t in first.recorded)
    first = replace(first, recorded=told)
    best, other = first.top(2)
    place = Place("tune_1_explore", best.number, best.configuration)
    launched = Launched(1, datetime.now(UTC), place, None, "launch", {}, "me", "", "", "")
    own = replace(campaign(first, trials=6, tests=True), launched=launched)
    elsewhere = replace(own, looks=(looked(first, other.number),))
    assert elsewhere.tested == () and next_step(elsewhere).kind == "test"
    here = replace(own, looks=(looked(first, best.number),))
    assert len(here.tested) == 1 and next_step(here).kind == "done"


def test_the_winner_stays_once_it_was_compared():
    first = explored(NOISY, trials=12)
    _, other = first.top(2)
    place = Place("tune_1_explore", other.number, other.configuration)
    base = Place("tune_2_baseline", 0, {})
    launched = Launched(1, datetime.now(UTC), place, base, "launch", {}, "me", "", "", "")
    own = replace(campaign(first, trials=60), launched=launched)
    assert own.winner == Contender(first, first.trial(other.number))
    assert next_step(own).kind == "done"


def test_probes_made_by_hand_do_not_count_for_a_campaign_to_come(tmp_path):
    own = workload(tmp_path, train_from_today)
    probe = tw.Round("stability.1", goal="?", nuisance={"learning_rate": [0.1]}, trials_per_study=3)
    tw.run(probe, own)
    planned = define(own, SPACE, 20, None, name="tune")
    with Store.open(own.store) as store:
        assert read_campaign(store, planned).spent == 0
