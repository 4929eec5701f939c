"""What a launch and a variance report on rounds that were trained: refusals, splits, cards."""

from __future__ import annotations

import html
import os
import random
import signal
from dataclasses import replace

import pytest
from tests.launches.arms import HIGH, LOW, facts, of, warning

import tunewright as tw
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError, WorkloadError
from tunewright.launches.launch import LaunchTerms
from tunewright.launches.looks import Question, decide_by_split, with_repeats
from tunewright.launches.variance import variance
from tunewright.messages import Message
from tunewright.store.results import Results

pytestmark = pytest.mark.beyond_core  # small rounds, trained in this process

ROUND = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-2, 1e-1)},
    trials_per_study=3,
)
INTERRUPTS: list[int] = []  # signals that the next trainings send to this process
TERMS = LaunchTerms(plan=3)


def train(run, learning_rate, layers=1):
    if INTERRUPTS:
        os.kill(os.getpid(), INTERRUPTS.pop())
    noise = random.Random(run.seeds.init + layers).gauss(0, 0.002)
    run.log(1, valid_error=1 + learning_rate - 0.1 * layers + noise)
    run.save({"error": 0.5})


def lost(checkpoint):
    raise ValueError("no test set here")


@pytest.fixture
def workload(tmp_path):
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=tmp_path / "t.db",
        executor=tw.executors.Inline(),
    )


@pytest.fixture
def results(workload):
    return tw.run(ROUND, workload)


def pair(results):
    return with_repeats(results, results.best(layers=2)), with_repeats(
        results, results.best(layers=1)
    )


def test_a_deterministic_workload_is_launched_without_runs(results, workload):
    report = tw.launch(results, replace(workload, deterministic=True))
    assert report.decision.deterministic
    assert report.decision.probability is None
    assert report.decision.verdict == "launch"
    assert not tw.load(workload.store, "depth").recorded_repeats


def test_the_first_baseline_is_made_once(results, workload):
    first = tw.launch(results, workload, first=True)
    assert (first.baseline, first.decision, first.plan) == (None, None, None)
    assert first.now == first.candidate == tw.history(workload.store).baseline.place
    assert str(first) == first.headline and "depth trial" in first._repr_html_()
    with pytest.raises(DesignError) as refused:
        tw.launch(results, workload, first=True, trial=0)
    assert refused.value.code == "launch.first_is_baseline"
    assert len(tw.history(workload.store).launches) == 1


def test_the_number_of_a_trial_goes_with_results_only(results, workload):
    with pytest.raises(DesignError) as refused:
        tw.launch(results.best(), workload, trial=0)
    assert refused.value.code == "final_test.trial_of_a_trial"
    with pytest.raises(DesignError) as refused:
        tw.launches.final_test(results.best(), workload, lost, trial=0)
    assert refused.value.code == "final_test.trial_of_a_trial"


def test_every_look_is_reported_as_it_is_taken(results, workload):
    seen = []
    report = tw.launch(results, workload, terms=TERMS, on_look=seen.append)
    assert [(one.runs, one.verdict) for one in seen] == [((3, 3), "launch")]
    (look,) = report.looks
    assert look.probability == seen[0].probability > look.threshold == seen[0].threshold
    assert look.runs_needed == 0
    assert repr(report).startswith(f"<{report.headline}")
    assert report._repr_html_() == report.decision._repr_html_()
    assert str(report.decision) == report.decision.headline == report.headline


def test_a_plan_has_a_headline_with_both_arms_and_decides_nothing(results, workload):
    report = tw.launch(results, workload, dry_run=True)
    assert report.decision is None and report.recorded is None and not report.looks
    for place in (report.candidate, report.baseline):
        assert str(place) in report.headline
        assert str(place) in report._repr_html_()


def test_a_claim_in_general_needs_study_variance(results, workload):
    with pytest.raises(DesignError) as refused:  # three trials of each setting show none
        tw.launch(results, workload, terms=LaunchTerms(in_general=True))
    assert refused.value.code == "launch.study_variance_unknown"
    assert not tw.load(workload.store, "depth").recorded_repeats


def test_a_stopped_launch_is_not_recorded_and_resumes(results, workload):
    INTERRUPTS.append(signal.SIGINT)
    report = tw.launch(results, workload, terms=TERMS)
    assert report.interrupted and report.recorded is None and report.now is None
    assert not tw.history(workload.store).launches
    assert report.headline == str(Message("launch.interrupted"))
    again = tw.launch(results, workload, terms=TERMS)
    assert again.now == again.candidate == report.candidate


def test_what_is_forbidden_trains_no_split(results, workload):
    question = Question(LaunchTerms(splits=3), findings=(warning("fairness"),))
    found = decide_by_split(*pair(results), workload, question)
    assert found.launch.forbidden and found.summary is None
    assert [round.name for round in tw.stores.rounds(workload.store)] == ["depth"]


def test_both_arms_train_once_on_the_same_splits(results, workload):
    found = decide_by_split(*pair(results), workload, Question(LaunchTerms(splits=4)))
    assert (found.launch.method, found.launch.runs) == ("paired by split", (4, 4))
    assert found.launch.verdict == "launch"
    assert found.launch.gain == pytest.approx(0.1, abs=0.05)
    seeds = {}
    for number in (pair(results)[0].of.number, pair(results)[1].of.number):
        names = [f"depth.trial{number}.split{k}" for k in (1, 2, 3, 4)]
        seeds[number] = [tw.load(workload.store, name).round.seed for name in names]
    one, other = seeds.values()
    assert one == other and len(set(one)) == 4


def test_a_stopped_comparison_by_splits_decides_nothing(results, workload):
    INTERRUPTS.append(signal.SIGINT)
    found = decide_by_split(*pair(results), workload, Question(LaunchTerms(splits=3)))
    assert found.interrupted
    assert found.launch.runs == (0, 0)


def test_a_test_set_that_cannot_be_measured_counts_as_no_look(results, workload):
    with pytest.raises(WorkloadError) as refused:
        tw.launches.final_test(results, workload, lost)
    assert refused.value.code == "final_test.not_measured"
    assert refused.value.facts["trial"] == results.best().number
    assert "no test set here" in str(refused.value)


def test_variance_of_results_that_were_never_stored(results, workload):
    loose = Results.from_parts(results.round, results.objective, results.trials)
    found = variance(loose)
    assert found.trial is None and set(found.missing) == {"trial", "study", "data", "splits"}
    assert str(found) == str(Message("variance.nothing_known"))


def test_measured_variances_are_shown_a_line_each(results, workload):
    found = variance(results, workload, times=3, splits=3)
    assert (found.trial.freedom, found.splits.freedom) == (2, 2)
    assert str(found).splitlines() == [str(found.trial), str(found.splits)]
    assert repr(found) == f"<Variances of 'depth'>\n{found}"
    card = found._repr_html_()
    for spread in (found.trial, found.splits):
        assert spread.source in card and str(spread.how) in card
    assert not found.interrupted


def test_a_stopped_measurement_trains_nothing_more(results, workload):
    INTERRUPTS.append(signal.SIGINT)
    found = variance(results, workload, times=2, studies=3, splits=3)
    assert found.interrupted
    assert [round.name for round in tw.stores.rounds(workload.store)] == ["depth"]


def test_a_card_has_the_numbers_the_reasons_and_the_limits():
    decided = of(HIGH, LOW)
    card = decided._repr_html_()
    for message in (*decided.reasons, *decided.caveats):
        assert html.escape(message.text) in card
    assert "5 + 5" in card
    forbidden = of(HIGH, LOW, findings=[warning("fairness")])
    assert facts(forbidden.reasons, "launch.finding")["check"] == "fairness"
    assert repr(forbidden) == f"<{forbidden.headline} (candidate against baseline)>"
