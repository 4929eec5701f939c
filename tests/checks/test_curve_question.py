from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.checks.curve_worlds import results_of, shape

from tunewright.actions import Advise, ShowTrial
from tunewright.checks._curve_question import (
    MOST_LISTED,
    Answer,
    CurveQuestion,
    Metric,
    Reading,
    TrialFacts,
    ask,
    look_at,
    objective_metric,
    training_metric,
)
from tunewright.checks.still_improving import still_improving
from tunewright.design.objective import maximize
from tunewright.finding import NotJudged
from tunewright.messages import Message

DO_IT = Advise("lower_learning_rate")


def question(flag, metric: Metric | None = None, fewest: int = 20) -> CurveQuestion[TrialFacts]:
    """Flags the trials a test wants flagged."""
    return CurveQuestion(
        "asked",
        metric or Metric("valid_error"),
        read=lambda results, _, table: [
            Reading(t, 0.0, flag(t.number), table.values.shape[1], TrialFacts(t.number))
            for t in table.trials
        ],
        answer=lambda results, _, said, seen: Answer(said.verdict, seen, (DO_IT,)),
        fewest=fewest,
    )


CURVES = [shape("fast", 30 + k % 2) + 0.001 * k for k in range(60)]


def test_curves_of_different_lengths_are_read_and_ranked_together() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: number == 1))
    assert (found.verdict, found.evidence.because) == ("note", "one")
    assert [facts.trial for facts in found.evidence.top] == [0, 1, 2, 3, 4]
    assert [facts.trial for facts in found.evidence.flagged] == [1]
    assert (found.evidence.judged, found.evidence.flagged_of_top) == (30, 1)
    assert (found.check, found.actions) == ("asked", (DO_IT,))


def test_only_some_of_many_flagged_trials_are_shown() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: True))
    assert found.evidence.flagged_trials == 30
    assert len(found.evidence.flagged) == MOST_LISTED


def test_curves_too_short_for_the_question_are_named() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: True, fewest=40))
    facts = {"metric": "valid_error", "points": 31, "needed": 40}
    assert found.evidence == NotJudged(Message("judge.few_points", facts))


def test_few_points_temper_a_good_verdict() -> None:
    short = results_of({"valid_error": CURVES})
    (few,) = still_improving(short)
    long = [np.repeat(curve, 2) for curve in CURVES]
    (many,) = still_improving(results_of({"valid_error": long}))
    assert (few.verdict, many.verdict) == ("ok", "ok")
    assert (few.evidence.points, many.evidence.points) == (31, 62)
    assert len(few.words.evidence) == len(many.words.evidence) + 1


def test_metrics_are_found_by_meaning_and_turned_so_that_lower_is_better() -> None:
    results = results_of(
        {"accuracy": CURVES}, objective=maximize("accuracy"), means={"train_loss": "loss/train"}
    )
    assert objective_metric(results) == Metric("accuracy", -1.0)
    assert training_metric(results) == Metric("loss/train", 1.0, "train_loss")


def test_a_joined_trial_is_looked_at_in_its_own_round() -> None:
    results = results_of({"valid_error": CURVES})
    first = results.rows[0]
    joined = replace(first, number=71, origin=("tune_3_exploit", 43))
    assert look_at(results, first) == (ShowTrial(results.round.name, 0),)
    assert look_at(results, joined) == (ShowTrial("tune_3_exploit", 43),)
    assert look_at(results, replace(first, number=None)) == ()
