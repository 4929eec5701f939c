"""The report of a campaign: what it chose first, then how, then all its trials together."""

from __future__ import annotations

import io
import statistics
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from tunewright.campaigns.campaign import Campaign, Definition, LoggedStep
from tunewright.campaigns.request import as_space
from tunewright.design.ranges import linear, log
from tunewright.errors import NotFound
from tunewright.launches.lineage import Launched, Place
from tunewright.messages import Message, words
from tunewright.present import envelope
from tunewright.present.figures.progress import progress
from tunewright.present.html import heading
from tunewright.present.report import report, summary_lines, whole
from tunewright.present.report_parts import trial_rows
from tunewright.present.terminal.round_page import studies_table, verdict
from tunewright.store.launches import Evaluation
from tunewright.testing import Bowl, World, results

SPACE = as_space({"learning_rate": log(1e-4, 1.0), "dropout": linear(0, 0.6)}, "tune")
WORLD = World(Bowl({"learning_rate": 0.5, "dropout": 0.4}), noise_sd=0.002)
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def campaign() -> Campaign:
    asked = replace(SPACE, name="tune_1_explore", trials_per_study=16)
    best = results(asked, WORLD).best().number
    assert best is not None
    explored = replace(results(asked, WORLD, repeats={best: 3}), search="halton")
    place = Place("tune_1_explore", best, explored.best().configuration)
    decision = {"verdict": "keep", "probability": 0.61, "gain": 0.01, "interval": [-0.02, 0.04],
                "reasons": ["<b>not sure</b>"]}  # fmt: skip
    launched = Launched(1, NOW, place, Place("old", 7, {}), "keep", decision, "me", "", "", "")
    look = Evaluation(
        explored.best().identity, best, 10, {"test_error": 0.123}, "t", "w", "valid_error", 0.1, 2
    )
    reason = Message("campaign.legacy", {"text": "what matters, <where>?"})
    return Campaign(
        definition=Definition("tune", SPACE, 40, None),
        rounds=(explored,),
        kinds=("explore",),
        launched=launched,
        looks=(look,),
        log=(LoggedStep(1, "explore", reason, "tune_1_explore", NOW),),
    )


def test_the_choice_rests_on_repeats() -> None:
    own = campaign()
    assert own.winner is not None
    says = next(summary_lines(own))
    assert "on average of 3 fresh seeds (sd " in says
    assert "learning_rate=" in says and "dropout=" in says


def test_a_candidate_that_loses_is_not_the_headline() -> None:
    """The verdict is to keep the baseline: the page and the text begin with that, on their own."""
    own = campaign()
    assert own.launched is not None and own.launched.verdict == "keep"
    assert own.verdict.code == "campaign.verdict.keep"
    assert own.winner is not None
    value = words.number(statistics.fmean(own.winner.repeats.values))
    name, headline, *_ = report(own).text.splitlines()
    assert (name, headline) == ("tune", own.headline) and value not in headline
    assert own.headline in report(own).html and own.headline in own._repr_html_()
    assert envelope.of_campaign(own)["verdict"]["code"] == "campaign.verdict.keep"


def test_what_was_decided_tested_and_spent_is_said() -> None:
    said = " ".join(summary_lines(campaign()))
    assert "It does not beat the baseline: keep that (old trial 7)" in said
    assert "probability of a gain 0.61" in said
    assert "On the test set (look number 2: be careful): test_error 0.123." in said
    assert "19 of 40 trials used in 1 round (3 repeats, 0 infeasible)" in said


def test_the_reason_of_a_decision_is_a_sentence() -> None:
    """A decision has codes with facts; version 1 stored the sentence itself."""
    decided = campaign()
    assert decided.launched is not None
    reason = {
        **{"code": "launch.probability", "candidate": "a trial 1", "baseline": "b trial 2"},
        **{"probability": 0.28, "threshold": 0.87, "must_exceed": 0.0, "not_worse_by": None},
    }
    decision = {**decided.launched.decision, "reasons": [reason]}
    place = decided.winner.place if decided.winner else decided.launched.candidate
    undecided = replace(decided.launched, verdict="undecided", decision=decision, candidate=place)
    shown = " ".join(summary_lines(replace(decided, launched=undecided)))
    assert "a trial 1 is better than b trial 2 with probability 28 %" in shown
    assert "{" not in shown


def test_page_and_text_lead_with_it_and_nothing_of_the_record_is_markup() -> None:
    made = report(campaign())
    page = made.html
    drawn = page.index(progress(campaign().rounds).title)
    assert page.index(campaign().headline[:20]) < drawn < page.index(heading("steps"))
    assert page.index(heading("steps")) < page.index(heading("together"))
    assert page.count("<h1>") == 1
    assert "progress" not in [chapter.kind for chapter in made.chapters]
    assert "&lt;where&gt;" in page and "<where>" not in page
    assert "<b>not sure" not in page
    assert made.text.startswith(f"tune\n{campaign().headline}\n")


def test_all_trials_stand_in_the_widest_space() -> None:
    own = campaign()
    wider = replace(
        SPACE, name="tune_2_widen", trials_per_study=8, nuisance={
            **SPACE.nuisance, "learning_rate": log(1e-4, 10.0)}
    )  # fmt: skip
    second = replace(results(wider, WORLD), search="halton")
    together = whole(replace(own, rounds=(*own.rounds, second), kinds=("explore", "widen")))
    assert together.round.name == "tune_2_widen"
    assert len(together.trials) == 24
    assert " [" not in str(together.round.goal)
    # an end that only a later round moved counts too, and every trial stands where it was
    cut = replace(SPACE, name="tune_3_exploit", trials_per_study=4, nuisance={
            **SPACE.nuisance, "learning_rate": log(1e-6, 1e-3)})  # fmt: skip
    third = replace(results(cut, WORLD), search="bayesian")
    kinds = ("explore", "widen", "exploit")
    all_of_it = whole(replace(own, rounds=(*own.rounds, second, third), kinds=kinds))
    assert len(all_of_it.trials) == 28
    range_ = all_of_it.round.nuisance["learning_rate"]
    assert (range_.low, range_.high) == (1e-6, 10.0)
    for trial in all_of_it.trials:
        rate = trial.configuration["learning_rate"]
        assert trial.unit["learning_rate"] == pytest.approx(range_.unit(rate))


def test_a_campaign_that_ran_nothing_has_no_report() -> None:
    with pytest.raises(NotFound, match="has run nothing yet"):
        report(Campaign(definition=Definition("tune", SPACE, 40, None)))


def test_every_number_is_one_that_a_round_has(tmp_path) -> None:
    own = campaign()
    asked = replace(SPACE, name="tune_2_exploit", trials_per_study=8, seed=5)
    exploit = replace(results(asked, World(WORLD.surface, noise_sd=0.05)), search="bayesian")
    own = replace(own, rounds=(*own.rounds, exploit), kinds=("explore", "exploit"))
    places = {r.round.name: {t.number for t in r.trials} for r in own.rounds}
    joined_trials = [t for t in whole(own).trials if t.origin is not None]
    assert len(joined_trials) == 8
    for trial in joined_trials:
        number, _, name = str(trial.shown_number).partition(" of ")
        assert int(number) in places[name]
    shown = {str(row.number) for row in trial_rows(whole(own)).rows}
    assert {"3 of tune_2_exploit", "7 of tune_2_exploit"} <= shown
    assert not {str(number) for number in range(16, 24)} & shown


def test_the_best_trial_of_a_study_is_named_by_its_own_round() -> None:
    asked = replace(SPACE, name="tune_2_exploit", trials_per_study=8, seed=5)
    exploit = replace(results(asked, WORLD), search="bayesian")
    worse = replace(campaign(), definition=Definition("tune", SPACE, 40, None))
    poor = World(Bowl({"learning_rate": 0.5, "dropout": 0.4}, best=1.0), noise_sd=0.002)
    explored = replace(
        results(replace(asked, name="tune_1_explore", seed=6), poor), search="halton"
    )
    own = whole(replace(worse, rounds=(explored, exploit), kinds=("explore", "exploit")))
    best = own.best()
    assert best.origin is not None
    page = io.StringIO()
    Console(file=page, width=200).print(studies_table(own))
    assert f" {best.shown_number} " in page.getvalue()
    assert f"trial {best.shown_number} at step" in verdict(own)


def test_the_chosen_value_is_that_of_runs_which_did_not_choose() -> None:
    asked = replace(SPACE, name="tune_1_explore", trials_per_study=16)
    noisy = replace(WORLD, noise_sd=0.05)
    first, second = (t.number for t in results(asked, noisy).top(2))
    twice = {first: 2, second: 2}
    explored = replace(results(asked, noisy, repeats=twice), search="halton")
    before = Campaign(
        definition=Definition("tune", SPACE, 40, None), rounds=(explored,), kinds=("explore",)
    )
    assert "that chose it" in next(summary_lines(before))
    number = before.winner.trial.number
    more = replace(results(asked, noisy, repeats={**twice, number: 5}), search="halton")
    after = Campaign(
        definition=Definition("tune", SPACE, 40, None), rounds=(more,), kinds=("explore",)
    )
    assert after.winner.trial.number == number
    assert "on average of 3 fresh seeds" in next(summary_lines(after))
