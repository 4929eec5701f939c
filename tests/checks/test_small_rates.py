from __future__ import annotations

import numpy as np
from tests.checks.curve_worlds import results_of

from tunewright.checks.logged_rate import DIFFER, small_rates


def compared(best: list[float], others: list[float], name: str = "learning_rate"):
    rates = [{name: rate} for rate in (*best, *others)]
    made = results_of({"valid_error": np.ones((len(rates), 20))}, configurations=rates)
    return small_rates(made, made.trials[: len(best)], made.trials[len(best) :])


def test_smaller_rates_are_told_with_their_medians() -> None:
    seen = compared([1e-3, 2e-3, 3e-3], [1e-2, 2e-2, 3e-2, 4e-2])
    assert seen is not None
    assert (seen.name, seen.best, seen.others) == ("learning_rate", 2e-3, 2.5e-2)
    assert seen.p <= DIFFER


def test_equal_larger_and_few_rates_say_nothing() -> None:
    assert compared([1e-2, 2e-2, 3e-2], [1e-3, 2e-3, 3e-3]) is None
    assert compared([1e-2] * 5, [1e-2] * 5) is None
    assert compared([1e-3, 2e-3], [1e-1, 2e-1, 3e-1]) is None
    known = compared([1e-3] * 5, [1e-1] * 5)
    assert known is not None and (known.best, known.others) == (1e-3, 1e-1)
    assert compared([1e-3] * 5, [1e-1] * 5, name="momentum") is None  # no learning rate at all


def test_chance_is_told_seldom() -> None:
    random = np.random.default_rng(5)
    told = [
        compared(*(10 ** random.uniform(-4, -1, 5)).reshape(1, 5).tolist(),
                 (10 ** random.uniform(-4, -1, 12)).tolist()) is not None
        for _ in range(200)
    ]  # fmt: skip
    assert sum(told) <= 20
