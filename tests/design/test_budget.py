from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.design.study import budget, dimensions_for, expected_cost, trials_for
from tunewright.errors import DesignError


def test_the_playbooks_ladder() -> None:
    assert [dimensions_for(n) for n in (1, 9, 10, 24, 25, 49, 50)] == [1, 1, 2, 2, 3, 3, 4]


@given(st.integers(1, 200))
def test_both_directions_agree(dimensions: int) -> None:
    needed = trials_for(dimensions)
    assert dimensions_for(needed) == dimensions
    assert dimensions_for(needed - 1) == max(dimensions - 1, 1)


def test_the_budget_of_a_study() -> None:
    round = Round("r", goal="?", nuisance={"a": log(1, 2), "b": log(1, 2)}, trials_per_study=9)
    found = budget(round.studies[0])
    assert (found.dimensions, found.branches, found.suggested, found.enough) == (2, 1, 10, False)


def test_costs() -> None:
    assert expected_cost(10, []) is None and expected_cost(0, [3.0]) is None
    cost = expected_cost(10, [360.0] * 20, workers=4)
    assert cost is not None
    assert cost.device_hours == pytest.approx(1.0)
    assert cost.low_hours == pytest.approx(0.25)
    assert cost.high_hours == pytest.approx(0.3)  # three waves of 0.1 h
    with pytest.raises(DesignError) as refused:
        expected_cost(1, [1.0], workers=0)
    assert refused.value.code == "budget.bad_workers"


@given(
    st.lists(st.floats(0.1, 1e5), min_size=1, max_size=30), st.integers(1, 500), st.integers(1, 64)
)
def test_the_range_holds_the_mean(seconds: list[float], trials: int, workers: int) -> None:
    cost = expected_cost(trials, seconds, workers)
    assert cost is not None
    expected = sum(seconds) / len(seconds) * trials / 3600
    assert cost.device_hours == pytest.approx(expected)
    assert 0 < cost.low_hours <= expected / workers * (1 + 1e-9)
    assert cost.high_hours >= expected / workers * (1 - 1e-9)
