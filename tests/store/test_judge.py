"""What a trial is worth under an objective."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.design.objective import maximize, minimize
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
    found = judge(objective, "completed", "", curves(e=[0.9, 0.2, 0.4]))
    assert (found.status, found.value, found.best_step) == ("completed", *expected)


def test_of_equal_values_the_first_step_counts() -> None:
    assert judge(minimize("e"), "completed", "", curves(e=[0.2, 0.2])).best_step == 10


@pytest.mark.parametrize(("bad", "text"), [(NAN, "nan"), (INF, "+inf"), (-INF, "-inf")])
def test_a_value_that_is_not_finite_is_infeasible_and_never_best(bad: float, text: str) -> None:
    for objective in (minimize("e"), maximize("e")):
        found = judge(objective, "completed", "", curves(e=[0.5, bad, 0.1]))
        assert found == Judged("infeasible", f"e is {text} at step 20")


def test_what_did_not_complete_keeps_its_status_and_reason() -> None:
    for status in ("pending", "running", "infeasible", "failed"):
        found = judge(minimize("e"), status, "why", curves(e=[0.5]))
        assert found == Judged(status, "why")


def test_an_objective_never_logged_is_failed() -> None:
    found = judge(minimize("e"), "completed", "", curves(other=[1.0]))
    assert found == Judged("failed", "the objective e was never logged")


def test_a_misspelt_objective_costs_no_training() -> None:
    reason = "the objective e was never logged, only error. Did you mean error?"
    logged = curves(error=[0.5, 0.3])
    assert judge(minimize("e"), "failed", reason, logged) == Judged("failed", reason)
    assert judge(minimize("error"), "failed", reason, logged).value == 0.3
    crashed = judge(minimize("error"), "failed", "ValueError: e was never logged", logged)
    assert crashed.status == "failed"


def test_constraints_are_judged_at_the_selected_step() -> None:
    logged = curves(e=[0.5, 0.2, 0.4], latency_ms=[10.0, 30.0, 10.0])
    broken = judge(minimize("e", subject_to={"latency_ms": ("<=", 20)}), "completed", "", logged)
    assert broken == Judged("infeasible", "latency_ms is 30 at step 20, not <= 20")
    kept = judge(minimize("e", subject_to={"latency_ms": (">=", 20)}), "completed", "", logged)
    assert kept.value == 0.2
    nan = judge(
        minimize("e", subject_to={"x": ("<=", 1)}), "completed", "", curves(e=[1.0], x=[NAN])
    )
    assert nan.status == "infeasible"
    missing = judge(minimize("e", subject_to={"size": ("<=", 1)}), "completed", "", logged)
    assert missing.status == "failed" and "size was never logged" in missing.reason


def test_a_constraint_logged_once_holds_for_every_step() -> None:
    points = pack({"e": ([10, 20], [0.5, 0.2]), "size": ([40], [7.0])})
    logged = Curves([Batch(1, 0, points)])
    assert (
        judge(minimize("e", subject_to={"size": ("<=", 8)}), "completed", "", logged).value == 0.2
    )
    assert (
        judge(minimize("e", subject_to={"size": ("<=", 6)}), "completed", "", logged).value is None
    )
