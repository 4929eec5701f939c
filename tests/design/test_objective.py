from __future__ import annotations

import pytest

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
        (lambda: minimize(""), "minimize(''): name the metric your program logs."),
        (lambda: maximize(None), "maximize(None): name the metric"),
        (lambda: minimize("e", at="first"), "minimize(at='first'): \"best\" takes the best value"),
        (lambda: minimize("e", subject_to=["x"]), "subject_to: ['x'] is not a mapping"),
        (lambda: minimize("e", subject_to={"x": 3}), "subject_to x: 3 is not a relation and"),
        (lambda: minimize("e", subject_to={"x": ("<", 3)}), "subject_to x: ('<', 3) is not"),
        (lambda: minimize("e", subject_to={"x": ("<=", True)}), "is not a relation and a number"),
        (lambda: minimize("e", subject_to={"x": ("<=", 10**400)}), "is not a relation and"),
        (lambda: minimize("e", subject_to={"x": (">=", float("nan"))}), "is not a relation"),
    ],
)
def test_refusals(attempt, said) -> None:
    with pytest.raises(DesignError) as refused:
        attempt()
    assert said in str(refused.value)
