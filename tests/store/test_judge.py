"""What a trial is worth under an objective."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.design.objective import maximize, minimize
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.judge import Judged, judge

NAN, INF = float("nan"), float("inf")


def curves(**metrics: Any) -> Curves:
    points = {name: (range(10, 10 * len(v) + 1, 10), v) for name, v in metrics.items()}
    return Curves([Batch(1, 0, pack(points))])


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (minimize("e"), (0.2, 20)),
        (maximize("e"), (0.9, 10)),
        (minimize("e", at="last"), (0.4, 30)),
        (maximize("e", at="last"), (0.4, 30)),
    ],
)
def test_the_value_and_its_step(objective: Any, expected: tuple[float, int]) -> None:
    found = judge(objective, "completed", None, curves(e=[0.9, 0.2, 0.4]))
    assert (found.status, found.value, found.best_step) == ("completed", *expected)


def test_of_equal_values_the_first_step_counts() -> None:
    assert judge(minimize("e"), "completed", None, curves(e=[0.2, 0.2])).best_step == 10


@pytest.mark.parametrize(("bad", "text"), [(NAN, "nan"), (INF, "+inf"), (-INF, "-inf")])
def test_a_value_that_is_not_finite_is_infeasible_and_never_best(bad: float, text: str) -> None:
    for objective in (minimize("e"), maximize("e")):
        found = judge(objective, "completed", None, curves(e=[0.5, bad, 0.1]))
        facts = {"metric": "e", "value": text, "step": 20}
        assert found == Judged("infeasible", Message("metric.not_finite", facts))


def test_what_did_not_complete_keeps_its_status_and_reason() -> None:
    why = Message("foreign", {"source": "test", "text": "why"})
    for status in ("pending", "running", "infeasible", "failed", "pruned"):
        found = judge(minimize("e"), status, why, curves(e=[0.5]))
        assert found == Judged(status, why)


def test_what_completed_without_the_metric_was_not_measured() -> None:
    """It completed by another objective: asking for a metric that it lacks fails nothing."""
    found = judge(minimize("e"), "completed", None, curves(other=[1.0]))
    assert found == Judged("unmeasured", Message("trial.unmeasured", {"metric": "e"}))


def test_a_misspelt_objective_costs_no_training() -> None:
    reason = Message("objective.never_logged", {"metric": "e", "logged": ["error"]})
    logged = curves(error=[0.5, 0.3])
    assert judge(minimize("e"), "failed", reason, logged) == Judged("failed", reason)
    assert judge(minimize("error"), "failed", reason, logged).value == 0.3


@pytest.mark.parametrize("text", ["e was never logged", "the objective e was never logged"])
def test_only_the_code_says_that_an_objective_was_never_logged(text: str) -> None:
    for code in ("trial.failed", "foreign", "legacy"):
        said = Message(code, {"text": text})
        assert judge(minimize("error"), "failed", said, curves(error=[0.5])).status == "failed"


def test_constraints_are_judged_at_the_selected_step() -> None:
    logged = curves(e=[0.5, 0.2, 0.4], latency_ms=[10.0, 30.0, 10.0])
    broken = judge(minimize("e", subject_to={"latency_ms": ("<=", 20)}), "completed", None, logged)
    facts = {"metric": "latency_ms", "relation": "<=", "limit": 20.0, "value": 30.0, "step": 20}
    assert broken == Judged("infeasible", Message("constraint.broken", facts))
    kept = judge(minimize("e", subject_to={"latency_ms": (">=", 20)}), "completed", None, logged)
    assert kept.value == 0.2
    nan = judge(
        minimize("e", subject_to={"x": ("<=", 1)}), "completed", None, curves(e=[1.0], x=[NAN])
    )
    assert nan.status == "infeasible"
    missing = judge(minimize("e", subject_to={"size": ("<=", 1)}), "completed", None, logged)
    assert missing.status == "failed" and missing.reason is not None
    assert missing.reason.code == "constraint.never_logged"
    assert missing.reason.facts["metric"] == "size"


def test_a_constraint_logged_once_holds_for_every_step() -> None:
    points = pack({"e": ([10, 20], [0.5, 0.2]), "size": ([40], [7.0])})
    logged = Curves([Batch(1, 0, points)])
    assert (
        judge(minimize("e", subject_to={"size": ("<=", 8)}), "completed", None, logged).value == 0.2
    )
    assert (
        judge(minimize("e", subject_to={"size": ("<=", 6)}), "completed", None, logged).value
        is None
    )
