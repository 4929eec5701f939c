"""The parts of the loop beyond the search: probes, repair, longer training, and what is skipped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.campaigns.known_worlds import (
    UNSTABLE,
    error_of,
    train_longer,
    train_nameless,
    train_overfits,
    train_stepping,
    train_unstable,
    train_without_steps,
    workload,
)

import tunewright as tw
from tunewright.advice.proposal import Proposal
from tunewright.campaigns.campaign import Campaign, Definition
from tunewright.campaigns.plan import next_step, shares_of
from tunewright.campaigns.probe import left_alone, most_runs, remedy_step
from tunewright.campaigns.request import TuneTerms, define
from tunewright.campaigns.train_longer import ranks_alike
from tunewright.campaigns.tune import carry_out, tune
from tunewright.errors import DesignError, WorkloadError
from tunewright.launches.lineage import baseline
from tunewright.messages import Message
from tunewright.present.report import summary_lines
from tunewright.probes.stability import Stability
from tunewright.store.replay import rebuild
from tunewright.store.store import Store
from tunewright.testing import Bowl, World, results

RATES = {"learning_rate": tw.log(1e-5, 1.0)}
SPACE = {**RATES, "dropout": tw.linear(0.0, 0.6)}


def until(*kinds: str):
    """Confirm every step up to the first of these kinds."""
    return lambda step, campaign: step.kind not in kinds


def test_an_unstable_world_is_repaired_by_warm_up(tmp_path):
    own = workload(tmp_path, train_unstable)
    asked = define(own, SPACE, 80, None, name="tune")
    asked = replace(asked, default=None)
    ending = carry_out(asked, own, confirm=until("exploit", "repeat"))
    campaign = ending.campaign
    steps = {step.kind: step for step in campaign.log}
    assert steps["probe"].reason.code == "campaign.probe_remedy"
    assert steps["probe"].reason.facts["remedies"] == ["warm-up"]
    assert steps["repair"].reason.code == "campaign.repaired"
    assert steps["repair"].reason.facts["settings"] == {"warmup_steps": 10}
    (repaired,) = campaign.of_kind("repair")
    assert repaired.round.fixed["warmup_steps"] == 10
    assert repaired.round.fixed["max_train_steps"] == 100, "training stays as long as asked for"
    best = campaign.ranked()[0].trial.configuration
    assert best["warmup_steps"] == 10 and best["learning_rate"] > 3 * UNSTABLE
    assert campaign.probe_trials > 0
    assert campaign.spent <= 80
    # the same call again has nothing to repair
    again = carry_out(asked, own, confirm=until("exploit", "repeat"))
    assert again.campaign.spent == campaign.spent
    # and a remedy that would take all that is free is not looked for
    why = Message("proposal.no_trial_has_run")
    proposed = Proposal(kind="repair", reason=why, because=("instability",))
    sick, most = replace(campaign, probes=()), most_runs(campaign)
    assert remedy_step(sick, proposed, most + 12).trials == most
    assert remedy_step(sick, proposed, most + 11) is None
    assert remedy_step(campaign, proposed, 1000) is None, "once"


@pytest.mark.parametrize("fails", [False, True])
def test_a_remedy_that_cannot_be_judged_or_fails_does_not_end_the_campaign(
    tmp_path, monkeypatch, fails
):
    def unjudged(workload, **asked):
        if fails:
            raise WorkloadError("error.text", text="trial 3 of probe_stability failed")
        return Stability(
            learning_rate=0.1, missing=(Message("probe.too_few_steps", {"steps": 9, "needed": 60}),)
        )

    monkeypatch.setattr("tunewright.campaigns.probe.stability", unjudged)
    own = workload(tmp_path, train_unstable)
    asked = replace(define(own, SPACE, 80, None, name="tune"), default=None)
    campaign = carry_out(asked, own, confirm=until("exploit", "repeat")).campaign
    assert [step.kind for step in campaign.log if step.kind in ("probe", "repair")] == ["probe"]
    (answer,) = (one for one in campaign.probes if one["probe"] == "repair")
    assert answer["settings"] == {}
    code = "probe.failed" if fails else "probe.stability.unknown"
    assert answer["message"]["code"] == code
    assert bool(answer["missing"]) is not fails
    why = Message("proposal.no_trial_has_run")
    proposed = Proposal(kind="repair", reason=why, because=("instability",))
    assert remedy_step(campaign, proposed, 1000) is None, "it is not asked for again"


def test_overfitting_brings_in_the_regulariser_that_the_space_lacks(tmp_path):
    own = workload(tmp_path, train_overfits)
    space = {"learning_rate": tw.log(1e-3, 1.0), "width": tw.linear(1.0, 2.0)}
    asked = replace(define(own, space, 60, None, name="tune"), default=None)
    campaign = carry_out(asked, own, confirm=until("exploit", "repeat")).campaign
    (made,) = campaign.of_kind("regularise")
    assert str(made.round.nuisance["dropout"]) == "linear(0, 0.5)"
    (step,) = [one for one in campaign.log if one.kind == "regularise"]
    assert step.reason.code == "proposal.regularise"
    assert list(step.reason.facts["ranges"]) == ["dropout"]
    assert made.round.change is not None and made.round.change.code == step.reason.code


_long = {"trained": 0}


def breaks_off_once(run, learning_rate, dropout=0.0, max_train_steps=100, schedule="cosine"):
    """Interrupted in the third training of full length, the first time."""
    _long["trained"] += max_train_steps == 1000
    if _long["trained"] == 3:
        _long["trained"] += 1
        raise KeyboardInterrupt
    train_longer(run, learning_rate, dropout, max_train_steps, schedule)


def test_the_best_are_trained_longer_in_the_end(tmp_path):
    own = workload(tmp_path, breaks_off_once)
    terms = TuneTerms(extend_to=1000, baseline={"learning_rate": 1e-4})
    with pytest.raises(KeyboardInterrupt):
        tune(own, SPACE, trials=30, terms=terms)
    campaign = tune(own, SPACE, trials=30, terms=terms)
    short = campaign.rounds[0]
    assert short.round.fixed["max_train_steps"] == 100, "about a tenth of production"
    long = campaign.extended
    assert [r.round.fixed["max_train_steps"] for r in long] == [1000] * len(long)
    assert long[0].search == "listed" and len(long[0].trials) == 5
    twins = [one.trial.configuration["learning_rate"] for one in campaign.ranked_short()[:5]]
    assert [t.configuration["learning_rate"] for t in long[0].trials] == twins
    alike = ranks_alike(campaign)
    assert alike is not None and alike.ranked == 5 and alike.correlation is not None
    assert any(
        "Short against long training: 5 configurations" in line for line in summary_lines(campaign)
    )
    # the winner and what it is compared with were trained as long
    assert campaign.winner.trial.configuration["max_train_steps"] == 1000
    assert campaign.default.trial.configuration["max_train_steps"] == 1000
    assert campaign.launched.verdict == "launch"
    best = campaign.winner.trial.configuration
    assert error_of(best["learning_rate"], best["dropout"]) < 0.08
    assert campaign.spent <= 30


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"extend": 1}, "above 1"),
        ({"extend": 2, "extend_to": 500}, "give one: a factor, or a number of steps"),
        ({"extend_to": 100, "steps": 100}, "trains for 100 steps already"),
    ],
)
def test_what_cannot_be_extended_is_refused(tmp_path, more, says):
    own = workload(tmp_path, train_longer)
    steps = more.pop("steps", None)
    space = SPACE if steps is None else {**SPACE, "max_train_steps": steps}
    with pytest.raises(DesignError, match=says):
        tune(own, space, trials=20, terms=TuneTerms(**more))
    nameless = workload(tmp_path, train_nameless, means={"max_train_steps": None})
    with pytest.raises(DesignError, match="no length to extend"):
        tune(nameless, {"rate": tw.log(1e-3, 1.0)}, trials=20, terms=TuneTerms(extend=2))


def test_a_workload_without_meanings_says_what_is_left_out(tmp_path):
    own = tw.Workload(
        train_nameless,
        tw.minimize("error"),
        store=tmp_path / "t.db",
        executor=tw.executors.Inline(),
    )
    campaign = tune(own, {"rate": tw.log(1e-4, 1.0)}, trials=8)
    lines = list(left_alone(campaign))
    assert {line.code for line in lines} == {"campaign.skipped"}
    assert [(line.facts["what"], line.facts["why"]["code"]) for line in lines] == [
        (["batch_size", "train_steps"], "campaign.pays_from"),
        (["warm-up", "clipping"], "campaign.takes_no"),
    ]
    larger = replace(campaign, definition=replace(campaign.definition, trials=100))
    assert [(line.facts["what"], line.facts["why"]["name"]) for line in left_alone(larger)] == [
        (["batch_size"], "batch_size"),
        (["train_steps", "warm-up", "clipping"], "learning_rate"),
    ]
    assert all(line.text in " ".join(summary_lines(campaign)) for line in lines)
    assert campaign.winner is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("train", "probed"), [(train_stepping, True), (train_without_steps, False)]
)
def test_the_batch_size_is_probed_where_steps_can_be_timed(tmp_path, train, probed):
    own = workload(tmp_path, train)
    asked = replace(define(own, RATES, 100, None, name="tune"), default=None)
    assert asked.able["batch_size"] is None
    ending = carry_out(asked, own, confirm=lambda step, campaign: step.probe == "batch_size")
    (answer,) = [one for one in ending.campaign.probes if one["probe"] == "batch_size"]
    size = ending.campaign.space.fixed["batch_size"]
    if probed:
        assert size == answer["settings"]["batch_size"] and size >= 1
    else:
        assert answer["message"]["code"] == "probe.failed" and size == 16


def asked_for(space, trials=120, **able: None) -> Campaign:
    fixed = {"max_train_steps": 50, "batch": 32}
    made = tw.Round("tune", goal="?", nuisance=space, fixed=fixed, trials_per_study=1)
    return Campaign(definition=Definition("tune", made, trials, None, able=able))


def test_the_batch_size_is_settled_before_the_length() -> None:
    open_ = asked_for(RATES, batch_size=None, train_steps=None)
    assert next_step(open_).probe == "batch_size"
    known = ({"probe": "batch_size", "settings": {"batch": 256}},)
    after = replace(open_, probes=known)
    assert next_step(after).probe == "train_steps"
    both = replace(
        open_, probes=(*known, {"probe": "train_steps", "settings": {"max_train_steps": 9}})
    )
    step = next_step(both)
    assert step.kind == "explore"
    assert dict(step.round.fixed) == {"max_train_steps": 9, "batch": 256}


def test_small_campaigns_do_not_probe_and_say_so() -> None:
    small = asked_for(RATES, trials=50, batch_size=None, train_steps=None)
    assert next_step(small).kind == "explore"
    why = next(left_alone(small)).facts["why"]
    assert why == {"code": "campaign.pays_from", "least": 100, "trials": 50}


def test_what_could_not_be_probed_is_left_as_it_is() -> None:
    failed = {"code": "probe.failed", "error": "it never steps"}
    silent = ({"probe": "batch_size", "settings": {}, "message": failed},)
    tried = replace(asked_for(RATES, batch_size=None), probes=silent)
    assert next_step(tried).kind == "explore"
    assert next_step(tried).round.fixed["batch"] == 32


def test_full_length_is_paid_for_out_of_what_is_kept_back() -> None:
    plain = asked_for(RATES, trials=50)
    longer = replace(plain, definition=replace(plain.definition, extend=10.0))
    assert shares_of(plain).extend == 0
    assert shares_of(longer).extend == 9 and shares_of(longer).long == 5
    assert shares_of(longer).kept_back == shares_of(plain).kept_back + 9


def test_after_full_length_short_trainings_no_longer_count() -> None:
    short = tw.Round("tune_1_explore", goal="?", nuisance=RATES, trials_per_study=6)
    long = replace(short, name="tune_2_extend", trials_per_study=2)
    own = asked_for(RATES)
    both = (
        results(short, World(Bowl({"learning_rate": 0.5}))),
        results(long, World(Bowl({"learning_rate": 0.9}))),
    )
    ranked = replace(own, rounds=both, kinds=("explore", "extend")).ranked()
    assert {one.results.round.name for one in ranked} == {"tune_2_extend"}


def saves(run, learning_rate):
    run.log(1, valid_error=error_of(learning_rate))
    run.save({"rate": learning_rate}, step=1)


def seen(checkpoint):
    return {"test_error": error_of(checkpoint.state["rate"])}


def test_a_store_made_again_has_the_same_campaign(tmp_path):
    own = workload(tmp_path, saves)
    before = tune(own, RATES, trials=8, test=seen)
    for old in tmp_path.glob("tuning.db*"):
        if old.is_file():
            old.unlink()
    rebuild(own.store)
    after = tune(own, RATES, trials=8, test=seen)
    assert after.log == before.log, "nothing was left to do"
    assert after.definition == before.definition
    assert after.winner.place == before.winner.place
    assert after.launched.candidate == before.launched.candidate
    (look,), (was,) = after.looks, before.looks
    assert (look.look, look.metrics, look.when) == (1, was.metrics, was.when)
    with Store.open(own.store) as store:
        assert baseline(store).place == before.winner.place
