from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given as forall, settings, strategies as st

from tunewright.search.bayesian.gaussian_process import (
    GAUSSIAN,
    KNOWN,
    MATERN,
    Kernel,
    Parameters,
    Prior,
    column_squares,
    condition,
    fit_parameters,
    loss_and_slope,
)

KERNELS = pytest.mark.parametrize("kernel", [MATERN, GAUSSIAN], ids=["matern", "gaussian"])


def data(seed: int, points: int = 12, columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    features = random.random((points, columns))
    return features, np.sin(5 * features[:, 0]) + features[:, 1] + 0.05 * random.normal(size=points)


def parameters(kernel: Kernel, columns: int = 3) -> Parameters:
    lengths = np.linspace(0.3, 0.9, columns)
    return Parameters(kernel, np.arange(columns), lengths, scale=1.7, noise=0.01)


def correlation(kernel: Kernel, a: np.ndarray, b: np.ndarray, lengths: np.ndarray) -> float:
    """By the textbook, pair by pair."""
    r = math.sqrt(float((((a - b) / lengths) ** 2).sum()))
    if kernel is GAUSSIAN:
        return math.exp(-r * r / 2)
    return (1 + math.sqrt(5) * r + 5 * r * r / 3) * math.exp(-math.sqrt(5) * r)


@KERNELS
def test_the_posterior_is_that_of_the_direct_formula(kernel: Kernel) -> None:
    features, values = data(0)
    own = parameters(kernel)
    new = np.random.default_rng(1).random((5, 3))

    def matrix(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return own.scale * np.array(
            [[correlation(kernel, x, y, own.lengths) for y in b] for x in a]
        )

    inverse = np.linalg.inv(matrix(features, features) + own.noise * np.eye(len(values)))
    cross = matrix(new, features)
    expected_mean = cross @ inverse @ values
    expected_covariance = matrix(new, new) - cross @ inverse @ cross.T
    process = condition(own, features, values)
    mean, sd = process.predict(new)
    assert mean == pytest.approx(expected_mean, abs=1e-9)
    assert sd**2 == pytest.approx(np.diag(expected_covariance), abs=1e-9)
    joint_mean, covariance = process.predict_jointly(new)
    assert joint_mean == pytest.approx(expected_mean, abs=1e-9)
    assert covariance == pytest.approx(expected_covariance, abs=1e-9)


@KERNELS
@forall(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_slope_of_the_loss_is_that_of_finite_differences(kernel: Kernel, seed: int) -> None:
    features, values = data(seed)
    group = np.array([0, 1, 1])  # two features share the length scale of a column
    squares = column_squares(group, 2, features)
    logs = np.random.default_rng(seed).normal(-1.0, 0.5, size=4)
    _, slope = loss_and_slope(logs, kernel, squares, values, Prior())
    for place in range(4):
        step = np.zeros(4)
        step[place] = 1e-5
        up, _ = loss_and_slope(logs + step, kernel, squares, values, Prior())
        down, _ = loss_and_slope(logs - step, kernel, squares, values, Prior())
        assert slope[place] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


@KERNELS
def test_the_slopes_of_a_prediction_are_those_of_finite_differences(kernel: Kernel) -> None:
    features, values = data(2)
    process = condition(parameters(kernel), features, values)
    point = np.array([0.31, 0.62, 0.4])
    mean, sd, mean_slope, sd_slope = process.predict_slopes(point)
    assert (mean, sd) == pytest.approx(tuple(float(x[0]) for x in process.predict(point[None, :])))
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        ends = process.predict(np.array([point + step, point - step]))
        numeric = [(end[0] - end[1]) / 2e-6 for end in ends]
        assert [mean_slope[place], sd_slope[place]] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_a_point_that_came_out_as_predicted_moves_no_mean_and_shrinks_doubt() -> None:
    features, values = data(3)
    own = parameters(MATERN)
    process = condition(own, features, values)
    point = np.array([[0.5, 0.5, 0.5]])
    predicted, _ = process.predict(point)
    # by the direct way: condition again with the prediction among the data, next to no noise in it
    less = np.append(np.zeros(len(values)), KNOWN - own.noise)
    again = condition(own, np.vstack([features, point]), np.append(values, predicted), less)
    new = np.random.default_rng(4).random((6, 3))
    believed = process.believing(point)
    assert believed.predict(new)[0] == pytest.approx(process.predict(new)[0])
    assert believed.predict(new)[1] == pytest.approx(again.predict(new)[1], abs=1e-7)
    assert believed.predict(point)[1][0] < 0.1 * process.predict(point)[1][0]


def test_a_fit_finds_which_columns_matter_and_how_much_noise_there_is() -> None:
    random = np.random.default_rng(5)
    features = random.random((80, 3))
    values = np.sin(6 * features[:, 0])
    values = (values - values.mean()) / values.std() + 0.1 * random.normal(size=80)
    found = fit_parameters(MATERN, np.arange(3), 3, features, values, Prior())
    assert found.lengths[1] > 5 * found.lengths[0] and found.lengths[2] > 5 * found.lengths[0]
    assert 0.05 < math.sqrt(found.noise) < 0.2


def test_a_known_noise_is_a_floor() -> None:
    features, values = data(6, points=30)
    quiet = fit_parameters(MATERN, np.arange(3), 3, features, values, Prior())
    loud = fit_parameters(MATERN, np.arange(3), 3, features, values, Prior(least_noise=0.2))
    assert quiet.noise < 0.1 and loud.noise >= 0.2 * (1 - 1e-9)


def test_a_fitted_mean_is_what_the_data_say_of_far_places() -> None:
    random = np.random.default_rng(7)
    features = random.random((40, 2))
    own = Parameters(MATERN, np.arange(2), np.array([0.05, 0.05]), scale=0.3, noise=0.01)
    process = condition(own, features, np.full(40, 3.0), fit_mean=True)
    assert process.predict(np.array([[50.0, 50.0]]))[0][0] == pytest.approx(3.0)
    assert condition(own, features, np.full(40, 3.0)).predict(np.array([[50.0, 50.0]]))[0][0] == 0


def test_the_same_point_many_times_without_noise_is_no_crash() -> None:
    features = np.repeat(np.array([[0.2, 0.3]]), 12, axis=0)
    own = Parameters(GAUSSIAN, np.arange(2), np.array([1.0, 1.0]), scale=1.0, noise=0.0)
    mean, sd = condition(own, features, np.ones(12)).predict(features[:1])
    assert mean[0] == pytest.approx(1.0, abs=1e-3) and sd[0] < 1e-2
