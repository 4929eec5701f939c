from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.checks.curve_worlds import results_of

from tunewright.checks._training_fit import training_fit


def fit_of(losses: np.ndarray, **more: Any) -> Any:
    made = results_of(
        {"valid_error": np.linspace(1, 0.2, 20) + 0 * losses, "train_loss": losses}, **more
    )
    return training_fit(made, made.top(len(made.trials)))


def falling(start: float, end: float, count: int = 6) -> np.ndarray:
    return np.tile(np.linspace(start, end, 20), (count, 1))


def test_a_loss_near_zero_fits_and_one_near_chance_does_not() -> None:
    well, badly = fit_of(falling(2.3, 0.02)), fit_of(falling(2.3, 1.8))
    assert (well.fits, badly.fits) == (True, False)
    assert well.source == "start" and well.reference == pytest.approx(2.3)
    assert badly.fitted == pytest.approx(1 - 1.8 / 2.3, abs=0.02)


def test_a_declared_chance_counts_instead_of_the_start() -> None:
    seen = fit_of(falling(9.0, 1.8), means={"chance": 2.3})  # a bad initialization
    assert (seen.source, seen.reference, seen.fits) == ("chance", 2.3, False)


def test_what_has_no_floor_or_no_curve_is_not_judged() -> None:
    assert fit_of(falling(1.0, -3.0)) is None  # a log-likelihood
    made = results_of({"valid_error": falling(1.0, 0.2)})
    assert training_fit(made, made.trials) is None


def test_only_the_best_count() -> None:
    losses = np.concatenate([falling(2.3, 0.02, 5), falling(2.3, 2.2, 15)])
    valid = np.linspace(1, 0.2, 20) + 0.01 * np.arange(20)[:, None]
    made = results_of({"valid_error": valid, "train_loss": losses})
    seen = training_fit(made, made.top(20))
    assert seen is not None and seen.fits
    assert (seen.end, seen.reference) == (pytest.approx(0.02, abs=0.2), pytest.approx(2.3))
    everybody = training_fit(made, made.top(20)[5:])
    assert everybody is not None and not everybody.fits
