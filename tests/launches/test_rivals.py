"""Which two trials a launch compares: by default, by name, after a launch, from earlier rounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.store.record_parts import KILLED, OBJECTIVE, a_round, curve, points

from tunewright.actions import TrainAgain
from tunewright.design.names import Meaning
from tunewright.design.objective import maximize
from tunewright.design.ranges import log
from tunewright.errors import DesignError, NotFound
from tunewright.launches import lineage
from tunewright.launches.lineage import Place
from tunewright.launches.looks import as_recorded, of_round, rivals
from tunewright.messages import Message
from tunewright.store.joined import with_earlier
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

# trials 0, 2, 4 have layers=1, and 1, 3, 5 layers=2; the best of all is of the first setting
VALUES = [0.5, 0.4, 0.2, 0.3, 0.6, 0.7]


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "tuning.db") as opened:
        yield opened


def record(store, values=VALUES, round=None, meaning=None):
    """A round whose trials have these values; None: it died, "pruned": early stopping ended it."""
    begun = store.begin(
        a_round() if round is None else round,
        OBJECTIVE,
        meaning or Meaning(),
        search="halton",
        suggestions=points,
    )
    worker = store.register(begun.id, "session", exclusive=False)
    for claim in store.claim(begun.id, worker, len(values)):
        value = values[claim.number]
        if value is None:
            store.end(claim, Outcome("infeasible", KILLED))
        elif value == "pruned":
            store.end(claim, Outcome("pruned", Message("trial.pruned", {"bound": 0.1})))
        else:
            store.end(claim, Outcome("completed", batches=[curve(value)], seconds=1.0))
    store.retire(worker)
    return store.results(begun.round.name)


def launched(store, trial, round="depth", values=(0.1, 0.2, 0.3)):
    """Make a trial the baseline by a decision that rests on these runs."""
    place = Place(round, trial, store.results(round).trial(trial).configuration)
    lineage.keep_launch(store, {"verdict": "launch", "candidate_values": list(values)}, place, None)


def numbers(pair):
    return pair.candidate.of.number, pair.baseline.of.number


def test_before_the_first_launch_the_first_setting_is_the_baseline(store):
    pair = rivals(store, record(store), None, None)
    assert numbers(pair) == (3, 2)  # the best of the other setting, though worse
    assert pair.why == Message("launch.baseline_start", {"study": "layers=1"})
    assert pair.won_with == 0
    assert [(p.round, p.trial) for p in pair.places] == [("depth", 3), ("depth", 2)]


def test_the_setting_that_switches_the_feature_off_is_the_baseline(store):
    pair = rivals(store, record(store, meaning=Meaning(off={"layers": 2})), None, None)
    assert numbers(pair) == (2, 3)
    assert pair.why.facts["study"] == "layers=2"


def test_what_is_off_elsewhere_does_not_choose_the_baseline(store):
    meaning = Meaning(off={"dropout": 0.0, "layers": 7})
    assert numbers(rivals(store, record(store, meaning=meaning), None, None)) == (3, 2)


def test_a_candidate_with_a_number_may_be_of_the_first_setting(store):
    assert numbers(rivals(store, record(store), 4, None)) == (4, 2)


def test_without_another_setting_there_is_no_candidate(store):
    results = record(store, [0.5, None, 0.4, None, 0.3, None])
    with pytest.raises(NotFound) as refused:
        rivals(store, results, None, None)
    assert refused.value.code == "launch.no_other_setting"
    assert refused.value.facts == {"round": "depth", "label": "layers=1"}


def test_a_first_setting_without_a_completed_trial_is_no_baseline(store):
    results = record(store, [None, 0.4, None, 0.3, None, 0.2])
    with pytest.raises(NotFound) as refused:
        rivals(store, results, None, None)
    assert refused.value.code == "launch.baseline_not_completed"
    assert refused.value.facts == {"round": "depth", "label": "layers=1"}


def test_a_round_of_one_setting_needs_a_first_baseline(store):
    results = record(store, [0.5, 0.4], a_round("my round", scientific={}, trials_per_study=2))
    with pytest.raises(DesignError) as refused:
        rivals(store, results, None, None)
    assert refused.value.code == "launch.no_baseline"
    assert refused.value.facts["command"] == "tunewright launch 'my round'"


@pytest.mark.parametrize("named", [5, "5", "depth:5", "trial"])
def test_a_baseline_is_named_by_number_by_text_or_by_trial(store, named):
    results = record(store)
    pair = rivals(store, results, None, results.trial(5) if named == "trial" else named)
    assert numbers(pair) == (2, 5)  # a named baseline leaves the best trial to be the candidate
    assert pair.why == Message("launch.baseline_named")


@pytest.mark.parametrize("named", ["width", "results"])
def test_a_round_that_is_named_stands_for_its_best_trial(store, named):
    results = record(store)
    other = record(store, [0.9, 0.8, 0.35, 0.7, 0.6, 0.5], a_round("width"))
    pair = rivals(store, results, None, other if named == "results" else named)
    assert [(p.round, p.trial) for p in pair.places] == [("depth", 2), ("width", 2)]


def test_a_round_may_have_a_colon_in_its_name(store):
    results = record(store)
    record(store, [0.9, 0.8, 0.35], a_round("a:b", trials_per_study=2, scientific={"layers": [1]}))
    assert rivals(store, results, None, "a:b").places[1].round == "a:b"
    pair = rivals(store, results, None, "a:b:1")
    assert (pair.places[1].round, pair.places[1].trial) == ("a:b", 1)


def test_an_unknown_baseline_is_answered_with_the_nearest(store):
    results = record(store)
    for named, near in (("dept", "depth"), ("dept:1", "depth"), (":1", None), ("zzz", None)):
        with pytest.raises(NotFound) as refused:
            rivals(store, results, None, named)
        assert refused.value.code == "launch.unknown_baseline"
        assert refused.value.facts["near"] == near
        assert refused.value.facts["known"] == ["depth"]


def test_after_a_launch_its_candidate_is_the_baseline(store):
    results = record(store)
    launched(store, 5)
    pair = rivals(store, results, None, None)
    assert numbers(pair) == (2, 5)
    assert (pair.why, pair.won_with) == (Message("launch.baseline_launched"), 3)


def test_a_trial_is_no_candidate_against_itself(store):
    results = record(store)
    for number, against in ((2, 2), (None, 2)):
        with pytest.raises(DesignError) as refused:
            rivals(store, results, number, against)
        assert refused.value.code == "launch.already_the_baseline"
        assert (refused.value.facts["round"], refused.value.facts["trial"]) == ("depth", 2)


def test_a_trial_that_was_stopped_early_is_trained_to_its_end_first(store):
    results = record(store, [0.5, 0.4, 0.2, "pruned", 0.6, 0.7])
    with pytest.raises(DesignError) as refused:
        rivals(store, results, 3, 2)
    assert refused.value.code == "launch.candidate_pruned"
    assert refused.value.remedy == TrainAgain("depth", 3)


def continued(store):
    """A round of three, and a wider one of two that continues it and finds nothing better."""
    first = a_round("first", scientific={}, trials_per_study=3)
    record(store, [0.5, 0.2, 0.6], first)
    wider = {"learning_rate": log(1e-4, 1.0)}
    second = replace(first, name="second", nuisance=wider, trials_per_study=2, continues="first")
    record(store, [0.9, 0.3], second)
    return with_earlier(store, "second")


def test_the_best_of_an_earlier_round_stands_in_the_round_that_ran_it(store):
    results = continued(store)
    assert results.best().origin == ("first", 1)
    assert of_round(store, results.best()) == ("first", 1)
    pair = rivals(store, results, None, 0)
    assert [(p.round, p.trial) for p in pair.places] == [("first", 1), ("second", 0)]
    assert pair.candidate.results.round.name == "first"


def test_what_an_earlier_round_launched_is_no_candidate_again(store):
    results = continued(store)
    launched(store, 1, "first", [0.1])
    pair = rivals(store, results, None, None)
    assert [(p.round, p.trial) for p in pair.places] == [("second", 1), ("first", 1)]
    assert pair.won_with == 1


def test_results_name_the_best_of_the_rounds_that_they_continue(store):
    results = continued(store)
    other = record(store, round=a_round("depth"))
    pair = rivals(store, other, None, results)
    assert [(p.round, p.trial) for p in pair.places] == [("depth", 2), ("first", 1)]
    assert rivals(store, other, None, "second").places == pair.places


def test_a_repeat_is_no_rival(store):
    results = record(store)
    repeat = replace(results.trial(1), number=None, parent=1)
    with pytest.raises(DesignError) as refused:
        of_round(store, repeat)
    assert refused.value.code == "launch.trial_is_repeat"
    assert refused.value.facts["parent"] == 1


def test_another_objective_judges_both(store):
    results = record(store)
    other = record(store, [0.9, 0.8, 0.35, 0.7, 0.6, 0.5], a_round("width"))
    judged = results.with_objective(maximize("valid_error"))
    pair = rivals(store, judged, None, "width")
    assert [(p.round, p.trial) for p in pair.places] == [("depth", 5), ("width", 0)]
    assert pair.baseline.objective == pair.candidate.objective == judged.objective
    assert as_recorded(store, "depth", judged).objective == judged.objective
    assert as_recorded(store, "depth", None) == as_recorded(store, "depth", results)
    assert other.objective == store.results("width").objective == OBJECTIVE
