from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import results_of, shape

from tunewright.checks._curve_question import (
    SHOWN,
    Answer,
    CurveQuestion,
    Metric,
    ask,
    objective_metric,
    training_metric,
)
from tunewright.checks._study_rule import Reading
from tunewright.design.objective import maximize


def question(flag, metric: Metric | None = None, fewest: int = 20) -> CurveQuestion:
    """Flags the trials a test wants flagged."""
    return CurveQuestion(
        "asked",
        metric or Metric("valid_error"),
        read=lambda _, table: [
            Reading(t, 0.0, flag(t.number), table.values.shape[1], {"trial": t.number})
            for t in table.trials
        ],
        answer=lambda judged, said: Answer(said.verdict, said.who, ("do it",), {"more": 1}),
        fewest=fewest,
    )


CURVES = [shape("fast", 30 + k % 2) + 0.001 * k for k in range(60)]


def test_curves_of_different_lengths_are_read_and_ranked_together() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: number == 1))
    assert (found.verdict, found.says) == ("note", "trial 1")
    assert [facts["trial"] for facts in found.evidence["top"]] == [0, 1, 2, 3, 4]
    assert found.evidence["judged"] == 30 and found.evidence["more"] == 1
    assert (found.check, found.advice) == ("asked", ("do it",))


def test_only_some_of_many_flagged_trials_are_shown() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: True))
    assert found.evidence["flagged_trials"] == 30
    assert len(found.evidence["flagged"]) == SHOWN


def test_curves_too_short_for_the_question_are_named() -> None:
    (found,) = ask(results_of({"valid_error": CURVES}), question(lambda number: True, fewest=40))
    assert found.verdict == "cannot_judge"
    assert "valid_error has 31 points a trial; this question needs 40" in found.says


def test_few_points_temper_a_good_verdict() -> None:
    (short,) = ask(results_of({"valid_error": CURVES}), question(lambda number: False))
    assert "31 points a curve show only large effects" in short.says
    long = [np.repeat(curve, 2) for curve in CURVES]
    (found,) = ask(results_of({"valid_error": long}), question(lambda number: False))
    assert "only large effects" not in found.says


def test_metrics_are_found_by_meaning_and_turned_so_that_lower_is_better() -> None:
    results = results_of(
        {"accuracy": CURVES}, objective=maximize("accuracy"), means={"train_loss": "loss/train"}
    )
    assert objective_metric(results) == Metric("accuracy", -1.0)
    assert training_metric(results) == Metric("loss/train", 1.0, "train_loss")
