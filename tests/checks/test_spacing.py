from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st
from tests.checks.curve_worlds import results_of, shape

from tunewright.actions import Advise, Declare
from tunewright.checks.spacing import at_equal_steps, average, tables, unreadable
from tunewright.messages import Message
from tunewright.store.curves import Curve


def curve(steps: np.ndarray) -> Curve:
    return Curve(np.asarray(steps, dtype=np.int64), np.asarray(steps, dtype=float))


def test_equal_steps_are_taken_as_they_are() -> None:
    points = at_equal_steps(curve(np.arange(10, 510, 10)))
    assert points is not None
    assert points[0].tolist() == list(range(10, 510, 10))


def test_a_last_gap_cut_short_does_not_matter() -> None:
    points = at_equal_steps(curve(np.append(np.arange(10, 510, 10), 503)))
    assert points is not None and points[0][-1] == 503


def test_a_dense_beginning_is_thinned() -> None:
    steps = np.concatenate([np.arange(1, 100), np.arange(100, 5001, 100)])
    points = at_equal_steps(curve(steps))
    assert points is not None
    assert 48 <= len(points[0]) <= 51 and points[0][-1] == 5000
    assert np.diff(points[0]).min() >= 75


def test_steps_without_any_order_are_not_read() -> None:
    assert (
        at_equal_steps(curve(np.cumsum(np.random.default_rng(0).pareto(0.5, 60) + 1).astype(int)))
        is None
    )


def test_values_that_are_not_finite_are_left_out() -> None:
    values = np.arange(50.0)
    values[7] = np.nan
    points = at_equal_steps(Curve(np.arange(50), values))
    assert points is not None and len(points[0]) == 49


@given(st.integers(20, 3000), st.integers(20, 500))
def test_long_curves_become_means_that_keep_the_end(points: int, longest: int) -> None:
    found = at_equal_steps(curve(np.arange(points)), longest)
    assert found is not None
    steps, values = found
    assert len(steps) <= longest and steps[-1] == points - 1
    many = -(-points // longest)
    np.testing.assert_allclose(values, steps - (many - 1) / 2)
    assert len(steps) == points // many


def test_tables_hold_curves_of_one_length_lower_is_better() -> None:
    curves = [np.arange(30.0), np.arange(40.0), np.arange(30.0) + 1, np.arange(5.0)]
    results = results_of({"valid_error": curves})
    found = list(tables(results.trials, "valid_error", sign=-1.0))
    assert [[t.number for t in table.trials] for table in found] == [[0, 2], [1]]
    assert found[0].values[1].tolist() == [-1.0 - k for k in range(30)]
    assert found[0].steps.shape == (2, 30)


def test_tables_can_be_averaged_further() -> None:
    results = results_of({"valid_error": [np.arange(100.0)] * 2})
    (table,) = tables(results.trials, "valid_error")
    assert average(table, 100) is table
    shorter = average(table, 30)
    assert shorter.values.shape == (2, 25)
    assert (shorter.steps[0, -1], shorter.values[0, -1]) == (1000, 97.5)


def test_it_says_why_a_curve_cannot_be_read() -> None:
    results = results_of(
        {"valid_error": [shape("fast", 30)], "train/loss": [shape("fast", 30)]},
        steps=np.cumsum(np.arange(30) ** 3 + 1),
    )
    why, actions = unreadable(results.trials, "accuracy")
    logged = ["valid_error", "train/loss"]
    assert why == Message("judge.metric_not_logged", {"metric": "accuracy", "logged": logged})
    assert actions == (Advise("log_metric", {"metric": "accuracy"}),)
    _, actions = unreadable(results.trials, "train_loss", "train_loss")
    assert actions == (Declare("train_loss", "train/loss"),)
    _, actions = unreadable(results.trials, "valid_loss", "valid_loss")
    assert actions == (Declare("valid_loss"),)
    why, actions = unreadable(results.trials, "valid_error", fewest=40)
    assert why.facts == {"metric": "valid_error", "points": 30, "needed": 40}
    assert actions == (Advise("evaluate_more_often"),)
    why, _ = unreadable(results.trials, "valid_error")
    assert why == Message("judge.uneven_steps", {"metric": "valid_error"})


def test_two_points_become_one_where_twice_as_many_are_there() -> None:
    results = results_of({"valid_error": [np.arange(100.0)] * 2})
    (table,) = tables(results.trials, "valid_error")
    halved = average(table, 50)
    assert halved.values.shape == (2, 50)
    assert halved.values[0, :2].tolist() == [0.5, 2.5]
