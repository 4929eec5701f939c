"""The whole loop on worlds with a known answer, and its promises: budget, resuming, asking."""

from __future__ import annotations

import builtins
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.campaigns.known_worlds import (
    BEST,
    SPACE,
    WALL,
    error_of,
    train,
    train_from_today,
    workload,
)

import tunewright as tw
from tunewright.campaigns.campaign import Campaign, read_campaign, read_definition
from tunewright.campaigns.plan import next_step
from tunewright.campaigns.request import TuneTerms, define
from tunewright.campaigns.tune import carry_out, tune
from tunewright.errors import DesignError, WorkloadError
from tunewright.launches.lineage import baseline
from tunewright.store.store import Store
from tunewright.testing import Bowl, World, results


def spent_in(store) -> int:
    """Every trial and repeat a store has, whoever counts."""
    with Store.open(store) as opened:
        found = [opened.results(record.name) for record in opened.rounds()]
    return sum(len(r.trials) + len(r.recorded_repeats) for r in found)


def signature(campaign):
    """What a campaign did, without times."""
    return [
        (
            r.round.name,
            r.search,
            [(t.configuration, t.status, t.value) for t in r.trials],
            [[(again.seed, again.value) for again in r.repeats(t)] for t in r.trials],
        )
        for r in campaign.rounds
    ]


def test_the_optimum_is_found_and_chosen_by_repeats(tmp_path):
    own = workload(tmp_path)
    campaign = tune(own, SPACE, trials=40)
    best = campaign.winner.trial.configuration
    assert error_of(best["learning_rate"], best["dropout"]) < BEST + 0.006
    assert len(campaign.winner.repeats.values) >= 2, "the choice does not rest on one lucky trial"
    assert campaign.kinds[0] == "explore" and "exploit" in campaign.kinds
    assert campaign.rounds[-1].search == "bayesian"
    assert campaign.spent <= 40 and campaign.spent == spent_in(own.store)
    # every step is written down with its reason, every round has its own
    assert [step.number for step in campaign.log] == list(range(1, len(campaign.log) + 1))
    assert all(step.reason.text for step in campaign.log)
    reasons = [step.reason.code for step in campaign.log]
    changes = [r.round.change for r in campaign.rounds]
    assert all(change is not None and change.code in reasons for change in changes)
    # the first winner is the baseline from now on
    with Store.open(own.store) as store:
        assert baseline(store).place == campaign.winner.place
    # all rounds are judged on one data split
    assert {r.round.seed for r in campaign.rounds} == {0}


def test_a_range_that_misses_the_optimum_is_widened(tmp_path):
    narrow = {"learning_rate": tw.log(1e-5, 1e-3), "dropout": tw.linear(0.0, 0.6)}
    campaign = tune(workload(tmp_path), narrow, trials=60)
    best = campaign.winner.trial.configuration
    assert best["learning_rate"] > 3e-3, "it went beyond the range it was given"
    assert error_of(best["learning_rate"], best["dropout"]) < BEST + 0.02
    assert any(step.kind == "widen" or step.reason.facts.get("why") for step in campaign.log)


def test_divergence_is_survived(tmp_path):
    mostly = {"learning_rate": tw.log(1e-3, 1e3), "dropout": tw.linear(0.0, 0.6)}
    campaign = tune(workload(tmp_path), mostly, trials=50)
    trials = list(campaign.all_trials())
    assert sum(t.status == "infeasible" for t in trials) >= 5
    best = campaign.winner.trial.configuration
    assert best["learning_rate"] <= WALL
    assert error_of(best["learning_rate"], best["dropout"]) < BEST + 0.02


@pytest.mark.slow
def test_when_tuning_has_saturated_trials_are_left_over(tmp_path):
    flat = {"learning_rate": tw.log(0.015, 0.03)}
    own = workload(tmp_path, means={"learning_rate": "learning_rate"})
    campaign = tune(own, flat, trials=120, terms=TuneTerms(detect=0.02))
    assert campaign.left > 0
    assert next_step(campaign).reason.code == "campaign.finished"
    assert campaign.launched is not None


def test_everything_diverges_and_it_says_so(tmp_path):
    campaign = tune(workload(tmp_path), {"learning_rate": tw.log(10.0, 1e3)}, trials=20)
    assert campaign.winner is None
    assert campaign.spent <= 20
    assert next_step(campaign).reason.code == "campaign.none_completed"


def test_what_people_have_today_is_beaten_on_fresh_seeds(tmp_path):
    campaign = tune(workload(tmp_path, train_from_today), SPACE, trials=40)
    assert campaign.kinds[0] == "baseline"
    assert campaign.default.trial.configuration["learning_rate"] == 1e-4
    assert campaign.launched.verdict == "launch"
    assert campaign.launched.baseline == campaign.default.place
    decision = campaign.launched.decision
    assert decision["probability"] > 0.87
    assert len(decision["candidate_values"]) >= 3 and len(decision["baseline_values"]) >= 3
    assert campaign.spent <= 40


def test_a_second_campaign_has_the_launched_baseline_to_beat(tmp_path):
    own = workload(tmp_path)
    first = tune(own, SPACE, trials=40)
    second = tune(own, SPACE, trials=40, name="again", terms=TuneTerms(seed=0))
    assert second.definition.incumbent == first.winner.place
    assert second.launched is not None
    assert second.launched.baseline == first.winner.place
    assert second.launched.verdict in ("launch", "keep", "undecided")
    assert second.spent <= 40
    assert spent_in(own.store) == first.spent + second.spent


def test_the_test_set_is_looked_at_once_at_the_end(tmp_path):
    def saves(run, learning_rate, dropout=0.25):
        train(run, learning_rate, dropout)
        run.save({"rate": learning_rate}, step=12)

    def test_error(checkpoint):
        return {"test_error": error_of(checkpoint.state["rate"])}

    own = workload(tmp_path, saves)
    campaign = tune(own, SPACE, trials=20, test=test_error)
    (look,) = campaign.looks
    assert look.look == 1
    assert look.trial == campaign.winner.trial.identity
    again = tune(own, SPACE, trials=20, test=test_error)
    assert again.looks == campaign.looks


def test_interrupted_anywhere_it_ends_as_if_it_had_not_been(tmp_path):
    """Broken off after so many trainings, again and again, then resumed to its end."""
    whole = tune(workload(tmp_path / "a"), SPACE, trials=34)
    (tmp_path / "b").mkdir()
    broken = workload(tmp_path / "b", _breaking_train)
    steps = 0
    while True:
        _breaking["left"] = 5
        try:
            campaign = tune(broken, SPACE, trials=34)
            break
        except KeyboardInterrupt:
            steps += 1
            assert steps < 20
    assert steps >= 5
    assert signature(campaign) == signature(whole)
    assert campaign.launched.candidate == whole.launched.candidate


_breaking = {"left": 0}


def _breaking_train(
    run, learning_rate, dropout=0.25, noise=0.003, max_train_steps=12, diverges=True
):
    if _breaking["left"] == 0:
        raise KeyboardInterrupt
    _breaking["left"] -= 1
    train(run, learning_rate, dropout, noise, max_train_steps)


def test_the_plan_is_a_function_of_the_store_alone(tmp_path):
    own = workload(tmp_path)
    asked = define(own, SPACE, 20, None, name="tune")
    seen = []
    carry_out(asked, own, tell=lambda step, campaign: seen.append((step, next_step(campaign))))
    assert seen and all(step == again for step, again in seen)
    with Store.open(own.store) as store:
        read = read_campaign(store, read_definition(store, "tune"))
    assert next_step(read).kind == "done"


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    trials=st.integers(1, 34),
    low=st.sampled_from([1e-6, 1e-3, 1.0]),
    today=st.booleans(),
)
def test_the_budget_is_never_exceeded(tmp_path_factory, trials, low, today):
    folder = tmp_path_factory.mktemp("budget")
    space = {"learning_rate": tw.log(low, 100 * low), "dropout": tw.linear(0.0, 0.6)}
    own = workload(folder, train_from_today if today else train)
    campaign = tune(own, space, trials=trials)
    assert spent_in(own.store) == campaign.spent <= trials
    assert all(t.ended for t in campaign.all_trials())


def test_hours_are_turned_into_trials_once_some_have_ended(tmp_path):
    own = workload(tmp_path)
    asked = define(own, SPACE, None, 1.0, name="tune")
    assert Campaign(definition=asked).total == 16, "nothing is known yet"
    ended = results(replace(asked.space, trials_per_study=16), World(Bowl({"learning_rate": 0.5})))
    # 16 trials of 10 s each: an hour has room for 360 of them, one at a time
    assert Campaign(definition=asked, rounds=(ended,)).total == 360
    assert Campaign(definition=replace(asked, trials=100), rounds=(ended,)).total == 100
    assert Campaign(definition=replace(asked, slots=2), rounds=(ended,)).total == 720
    assert Campaign(definition=asked, rounds=(ended,), probe_seconds=1800.0).total == 180, (
        "probes take time too"
    )
    assert Campaign(definition=replace(asked, hours=0.01), rounds=(ended,)).left == 0


def test_a_larger_budget_goes_on(tmp_path):
    own = workload(tmp_path)
    small = tune(own, SPACE, trials=8)
    assert small.spent <= 8
    large = tune(own, SPACE, trials=24)
    assert 8 < large.spent <= 24
    assert large.rounds[0].trials[: len(small.rounds[0].trials)] == small.rounds[0].trials


def test_asking_stops_before_the_step_that_was_refused(tmp_path, monkeypatch, capsys):
    answers = iter(["y", "n"])
    monkeypatch.setattr(builtins, "input", lambda prompt: next(answers))
    campaign = tune(workload(tmp_path), SPACE, trials=20, ask=True)
    assert len(campaign.rounds) == 1
    assert "explore: " in capsys.readouterr().out


def test_another_space_under_the_same_name_is_refused(tmp_path):
    own = workload(tmp_path)
    tune(own, SPACE, trials=3)
    with pytest.raises(DesignError, match="give this one another name"):
        tune(own, {"learning_rate": tw.log(1e-3, 1.0)}, trials=3)


@pytest.mark.parametrize(
    ("space", "more", "says"),
    [
        (SPACE, {}, "how much may it spend"),
        (SPACE, {"trials": 0}, "at least 1"),
        (SPACE, {"trials": 2.5}, "a whole number"),
        (SPACE, {"hours": -1.0}, "such as 8 or 0.5"),
        ({"learning_rate": 0.1}, {"trials": 9}, "nothing is searched"),
        ([1, 2], {"trials": 9}, "give ranges by name"),
        ({"learning_rat": tw.log(1e-3, 1.0)}, {"trials": 9}, "learning_rate"),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_anything_runs(tmp_path, space, more, says):
    with pytest.raises((DesignError, WorkloadError), match=says):
        tune(workload(tmp_path), space, **more)


def test_a_round_can_be_the_space(tmp_path):
    asked = tw.Round(
        "depth",
        goal="Which depth?",
        scientific={"dropout": [0.1, 0.25, 0.4]},
        nuisance={"learning_rate": tw.log(1e-4, 1.0)},
        trials_per_study=8,
    )
    campaign = tune(workload(tmp_path), asked, trials=24)
    assert campaign.winner.trial.configuration["dropout"] in (0.1, 0.25, 0.4)
    assert len(campaign.rounds[0].round.studies) == 1
