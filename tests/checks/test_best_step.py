from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import results_of

from tunewright.checks.best_step import BestSteps, best_steps
from tunewright.design.objective import maximize, minimize


def dip(at: int, evaluations: int = 50) -> np.ndarray:
    return 0.1 + np.abs(np.arange(1, evaluations + 1) - at) / evaluations


def test_best_steps_come_from_the_curves_of_the_best_trials() -> None:
    curves = [dip(at) + 0.01 * rank for rank, at in enumerate([10, 20, 30, 40, 50, 5])]
    results = results_of({"valid_error": curves})
    found = best_steps(results, results.top(6))
    assert found.steps == (100, 200, 300, 400, 500)
    assert found.max_train_steps == 500
    assert (found.early, found.late) == (0, 2)


def test_an_objective_at_the_end_does_not_hide_the_best_step() -> None:
    results = results_of({"valid_error": [dip(10)] * 5}, objective=minimize("valid_error", "last"))
    assert set(best_steps(results, results.top(5)).steps) == {100}


def test_an_accuracy_is_best_where_it_is_highest() -> None:
    results = results_of({"accuracy": [-dip(20)] * 5}, objective=maximize("accuracy"))
    assert set(best_steps(results, results.top(5)).steps) == {200}


def test_steps_are_counted_as_logged_whatever_the_configuration_counts() -> None:
    results = results_of(
        {"valid_error": [dip(10)] * 5},
        configurations=[{"epochs": 8}] * 5,
        means={"max_train_steps": "epochs"},
    )
    assert best_steps(results, results.top(5)).max_train_steps == 500


def test_a_tenth_of_many_trials_is_looked_at() -> None:
    results = results_of({"valid_error": [dip(10) + k for k in range(80)]})
    assert len(best_steps(results, results.top(80)).steps) == 8


def test_a_shorter_training_is_proposed_only_when_it_is_shorter() -> None:
    assert BestSteps((100, 120, 130, 140, 150), 1000).proposed == 220
    assert BestSteps((100, 120, 130, 900, 1000), 1000).proposed is None
    assert BestSteps((700, 720, 730, 900, 1000), 1000).proposed is None
    assert BestSteps((100, 120), 1000).proposed is None  # too few to tell
