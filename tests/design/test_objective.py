from __future__ import annotations

import pytest
from tests.problems import states

from tunewright.design.objective import maximize, minimize
from tunewright.errors import DesignError


def test_direction_and_words() -> None:
    error = minimize("valid_error", subject_to={"latency_ms": ["<=", 20]})
    assert error.better(0.1, 0.2) and not error.better(0.2, 0.2) and error.sign == -1
    assert maximize("accuracy").better(0.9, 0.8) and maximize("accuracy").sign == 1
    assert error.subject_to == {"latency_ms": ("<=", 20.0)}
    assert str(error) == "minimize valid_error (best, latency_ms <= 20)"
    assert str(maximize("accuracy", at="last")) == "maximize accuracy (last)"


@pytest.mark.parametrize(
    "attempt, said",
    [
        (lambda: minimize(""), ("objective.no_metric", {"verb": "minimize", "metric": ""})),
        (lambda: maximize(None), ("objective.no_metric", {"verb": "maximize", "metric": None})),
        (
            lambda: minimize("e", at="first"),
            ("objective.bad_at", {"verb": "minimize", "at": "first"}),
        ),
        (
            lambda: minimize("e", subject_to=["x"]),
            ("objective.constraints_not_mapping", {"subject_to": ["x"]}),
        ),
        (
            lambda: minimize("e", subject_to={"x": 3}),
            ("objective.bad_constraint", {"name": "x", "constraint": 3}),
        ),
        (
            lambda: minimize("e", subject_to={"x": ("<", 3)}),
            ("objective.bad_constraint", {"name": "x", "constraint": ("<", 3)}),
        ),
        (
            lambda: minimize("e", subject_to={"x": ("<=", True)}),
            ("objective.bad_constraint", {"name": "x", "constraint": ("<=", True)}),
        ),
        (
            lambda: minimize("e", subject_to={"x": ("<=", 10**400)}),
            ("objective.bad_constraint", {"name": "x"}),
        ),
        (
            lambda: minimize("e", subject_to={"x": (">=", float("nan"))}),
            ("objective.bad_constraint", {"name": "x"}),
        ),
    ],
)
def test_refusals(attempt, said) -> None:
    with pytest.raises(DesignError) as refused:
        attempt()
    assert states(refused.value, *said)
