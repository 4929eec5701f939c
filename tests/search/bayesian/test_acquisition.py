from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from tunewright.search.bayesian.candidates import Acquisition, improvement
from tunewright.search.bayesian.feasibility import learn_feasibility
from tunewright.search.bayesian.gaussian_process import MATERN, Parameters, Prior, condition


@pytest.mark.parametrize("mean", [-2.0, 0.0, 0.5, 3.0])
def test_it_is_the_logarithm_of_the_integral(mean: float) -> None:
    sd, best = 0.7, 0.2
    integral, _ = quad(lambda y: (best - y) * norm.pdf(y, mean, sd), mean - 15, best)
    found = improvement(best, np.array([mean]), np.array([sd]))[0]
    assert found == pytest.approx(math.log(integral), rel=1e-6)


def test_far_from_the_best_it_still_falls_steadily() -> None:
    means = np.concatenate([np.linspace(-5, 50, 500), np.geomspace(51, 1e6, 200)])
    found = improvement(0.0, means, np.ones(len(means)))
    assert np.isfinite(found).all() and (np.diff(found) < 0).all()


@pytest.mark.parametrize("kind", ["improvement", "bound"])
@pytest.mark.parametrize("with_feasibility", [False, True])
def test_its_slope_is_that_of_finite_differences(kind: str, with_feasibility: bool) -> None:
    random = np.random.default_rng(0)
    features = random.random((15, 2))
    own = Parameters(MATERN, np.arange(2), np.array([0.4, 0.6]), scale=1.0, noise=0.01)
    process = condition(own, features, np.sin(4 * features[:, 0]))
    feasible = None
    if with_feasibility:
        labels = features[:, 1] < 0.6
        feasible = learn_feasibility(MATERN, np.arange(2), 2, features, labels, Prior())
    for best in (-0.5, -6.0):  # near, and far into the tail
        acquisition = Acquisition(process, best, feasible, kind)  # type: ignore[arg-type]
        point = np.array([0.37, 0.55])
        worth, slope = acquisition.slope(point)
        assert worth == pytest.approx(float(acquisition.at(point[None, :])[0]))
        for place in range(2):
            step = np.zeros(2)
            step[place] = 1e-6
            up, down = acquisition.at(np.array([point + step, point - step]))
            assert slope[place] == pytest.approx((up - down) / 2e-6, rel=1e-3, abs=1e-5)
