from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import noise, results_of

from tunewright.checks.infeasible import far_above

T = np.arange(1, 41) / 40


def numbers(losses: list[np.ndarray], **changes: object) -> list[int | None]:
    errors = [np.full(40, 0.5)] * len(losses)
    made = results_of({"valid_error": errors, "train_loss": losses}, **changes)  # type: ignore[arg-type]
    return [trial.number for trial in far_above(made, made.trials)]


def falling(count: int = 15) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    levels = 0.2 + 0.1 * random.random(count)
    return [2.3 * np.exp(-4 * T) + level + 0.01 * noise(random, 1, 40, 0)[0] for level in levels]


def test_a_trial_that_ends_far_above_its_start_is_absurd() -> None:
    assert numbers([*falling(), 2.3 + 50 * T]) == [15]


def test_a_trial_stuck_at_chance_is_not() -> None:
    assert numbers([*falling(), np.full(40, 2.3)]) == []


def test_chance_may_be_declared() -> None:
    rising = [*falling(), 2.3 + 3 * T]
    assert numbers(rising, means={"chance": 10.0}) == []
    assert numbers(rising, means={"chance": 2.3}) == [15]


def test_few_trials_and_losses_below_zero_say_nothing() -> None:
    assert numbers([*falling(5), 2.3 + 50 * T]) == []
    assert numbers([*(loss - 5 for loss in falling()), 2.3 + 50 * T]) == []
