"""The checks together: silent about healthy studies, and the long version of every rate."""

from __future__ import annotations

import numpy as np
import pytest
from tests.checks.calibrate import CORRELATIONS, healthy_warnings, median_rates, null_rates
from tests.checks.rates import at_most

# per cent of curves flagged, on average over all worlds (the published rates; the last is ours)
PUBLISHED = {
    "worse": 0.39,
    "improving": 0.62,
    "rises": 0.37,
    "saturated": 0.1,
    "periodic": 0.2,
    "periodic, epoch known": 0.3,
}


@pytest.mark.parametrize("decaying", [True, False])
def test_a_healthy_study_is_left_alone(decaying: bool) -> None:
    warned = healthy_warnings(25, 60, decaying)
    assert warned["any"] <= 2, warned


@pytest.mark.slow
@pytest.mark.parametrize("decaying", [True, False])
def test_healthy_studies_are_left_alone(decaying: bool) -> None:
    for evaluations in (40, 100):
        warned = healthy_warnings(200, evaluations, decaying)
        assert warned["any"] <= 10, warned


@pytest.mark.slow
@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("evaluations", [20, 40, 100])
def test_false_alarms_are_the_published_ones(evaluations: int, correlation: float) -> None:
    for rule, cells in null_rates(evaluations, correlation, 400, seed=7).items():
        curves = 400 * len(cells)
        assert at_most(round(sum(cells.values()) * 400), curves, PUBLISHED[rule] / 100), rule
        worst = max(cells, key=lambda cell: cells[cell])
        assert cells[worst] <= 0.07, (rule, worst)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("evaluations", [20, 40, 100])
def test_five_trials_stay_below_their_limits(evaluations: int, correlation: float) -> None:
    quantiles = median_rates(evaluations, correlation, 200, seed=7)
    limits = {"worse": 2.2, "improving": 2.2, "saturated": 1.5}
    assert all(quantiles[rule] < limit for rule, limit in limits.items()), quantiles
    assert all(np.isfinite(quantile) for quantile in quantiles.values())
