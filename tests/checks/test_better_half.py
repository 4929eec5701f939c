from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import results_of, shape

from tunewright.checks._better_half import better_halves, have_learned, stuck_level
from tunewright.design.objective import maximize, minimize
from tunewright.messages import Message


def curves(count: int) -> np.ndarray:
    return shape("fast", 30) + 0.01 * np.arange(count)[:, None]


def numbers(results) -> list[list[int | None]]:
    return [[t.number for t in judged.trials] for judged in better_halves(results)]


def test_the_better_half_is_best_first() -> None:
    assert numbers(results_of({"valid_error": curves(20)[::-1]})) == [list(range(19, 9, -1))]


def test_the_five_best_are_kept_of_a_small_study() -> None:
    assert numbers(results_of({"valid_error": curves(6)})) == [[0, 1, 2, 3, 4]]
    assert numbers(results_of({"valid_error": curves(3)})) == [[0, 1, 2]]


def test_trials_at_chance_level_are_named_and_left_out() -> None:
    values = curves(8)
    values[5:] = 1.0 + 0.001 * np.arange(3)[:, None]
    results = results_of({"valid_error": values})
    (judged,) = better_halves(results)
    assert judged.never_learned == (5, 6, 7)
    assert len(judged.ranked) == 8 and len(judged.trials) == 5


def test_studies_are_kept_apart_and_an_empty_one_says_so() -> None:
    values = curves(8)
    values[1::2] = np.nan
    results = results_of({"valid_error": values}, scientific={"layers": [1, 2]})
    assert numbers(results) == [[0, 2, 4, 6], []]
    assert better_halves(results)[1].why_not == Message("judge.no_completed_trial")


def test_an_accuracy_learns_upwards() -> None:
    results = results_of({"accuracy": 1 - curves(6)}, objective=maximize("accuracy"))
    assert numbers(results) == [[0, 1, 2, 3, 4]]


def test_nobody_learns_when_nothing_improves() -> None:
    ones = np.ones(4)
    assert have_learned(ones, ones) == [False] * 4
    assert have_learned(ones * np.nan, ones * np.nan) == [False] * 4
    assert have_learned(ones, np.array([0.0, 0.79, 0.81, np.nan])) == [True, True, False, False]


def from_above(ends: list[float]) -> np.ndarray:
    """Losses that begin at 9, far above chance, and fall to these ends at once."""
    t = np.arange(30)
    return np.array([end + (9.0 - end) * np.exp(-t / 1.5) for end in ends])


def test_falling_from_above_chance_to_chance_is_no_learning() -> None:
    ends = [1.6, 1.7, 1.8, 2.3, 2.301, 2.302, 2.299]
    declared = results_of({"valid_loss": from_above(ends)}, objective=minimize("valid_loss"))
    (judged,) = better_halves(declared)
    assert judged.never_learned == (6, 3, 4, 5)  # four curves end at one level
    few = from_above([1.6, 1.7, 2.25])  # too few to show a level: it must be declared
    for chance, never in ((None, ()), (2.3, (2,))):
        means = {} if chance is None else {"chance": chance}
        made = results_of({"valid_loss": few}, objective=minimize("valid_loss"), means=means)
        assert better_halves(made)[0].never_learned == never


def test_trials_that_all_learned_about_as_well_are_no_level() -> None:
    for ends in ([0.30, 0.301, 0.302, 0.303, 0.9], [0.3, 0.31, 0.32, 0.4, 0.6, 0.61]):
        made = results_of({"valid_loss": from_above(ends)}, objective=minimize("valid_loss"))
        assert better_halves(made)[0].never_learned == ()
    assert stuck_level(np.array([0.3, 0.3]), 9.0) is None
    assert stuck_level(np.array([np.nan, 0.3, 0.3, 0.3, 0.3]), 0.3) is None
