from __future__ import annotations

import numpy as np
import pytest

from tunewright.search.bayesian.feasibility import PRIOR, learn_feasibility, log_probability
from tunewright.search.bayesian.gaussian_process import MATERN, Prior


def probabilities(features: np.ndarray, feasible: np.ndarray, at: np.ndarray) -> np.ndarray:
    columns = features.shape[1]
    latent = learn_feasibility(MATERN, np.arange(columns), columns, features, feasible, Prior())
    return np.exp(log_probability(*latent.predict(at)))


def test_it_learns_the_wall() -> None:
    features = np.random.default_rng(0).random((60, 2))
    at = np.array([[0.2, 0.5], [0.5, 0.5], [0.85, 0.5], [0.95, 0.1]])
    found = probabilities(features, features[:, 0] < 0.7, at)
    assert found[0] > 0.95 and found[1] > 0.9
    assert found[2] < 0.2 and found[3] < 0.2


def test_far_from_all_trials_it_is_what_was_expected_before() -> None:
    features = np.random.default_rng(1).random((20, 1))
    found = probabilities(features, features[:, 0] < 0.5, np.array([[300.0]]))
    assert found[0] == pytest.approx(PRIOR, abs=0.01)


def test_it_is_calibrated_where_luck_decides() -> None:
    """A share of 0.3 diverges anywhere: what it says on average is near, and never sure."""
    random = np.random.default_rng(2)
    features = random.random((150, 2))
    found = probabilities(features, random.random(150) > 0.3, random.random((200, 2)))
    assert abs(float(found.mean()) - 0.7) < 0.1
    assert found.max() < 0.99


@pytest.mark.parametrize("label", [True, False])
def test_trials_that_all_ended_alike(label: bool) -> None:
    features = np.random.default_rng(3).random((15, 2))
    found = probabilities(features, np.full(15, label), features)
    assert (found > 0.9).all() if label else (found < 0.3).all()
