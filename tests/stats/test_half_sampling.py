from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.checks.rates import at_most
from tests.checks.space_worlds import calls

from tunewright.stats.half_sampling import (
    same_place,
    separate_halves,
    shared_halves,
    shared_region,
)

losses = st.floats(-100, 100)


@given(
    st.lists(
        st.tuples(losses, losses),
        min_size=4,
        max_size=9,
        unique_by=(lambda p: p[0], lambda p: p[1]),
    )
)
def test_it_is_exact(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    count = len(a)
    found = shared_halves(a, b)
    assert found is not None
    halves = list(itertools.combinations(range(count), -(-count // 2)))
    gaps = np.array([b[list(h)].min() - a[list(h)].min() for h in halves])
    assert found.a_wins == pytest.approx(np.mean(gaps > 0))
    assert found.b_wins == pytest.approx(np.mean(gaps < 0))
    assert found.half_gap == pytest.approx(gaps.mean(), abs=1e-9)


def test_infeasible_trials_are_worse_than_any() -> None:
    a = np.array([1.0, np.inf, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    b = a + 1
    b[0] = np.inf
    found = shared_halves(a, b)
    assert found is not None
    assert found.a_wins == pytest.approx(1.0)
    mostly = np.full(8, np.inf)
    mostly[0] = 1.0
    assert shared_halves(a, mostly) is None


def test_separate_arms_are_drawn_one_by_one() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=6), random.normal(size=6)
    found = separate_halves(a, b)
    assert found is not None
    halves = list(itertools.combinations(range(6), 3))
    gaps = [b[list(y)].min() - a[list(x)].min() for x in halves for y in halves]
    assert found.a_wins == pytest.approx(np.mean(np.array(gaps) > 0))
    assert found.half_gap == pytest.approx(np.mean(gaps))


@pytest.mark.parametrize(("count", "gap", "published"), [(16, 2.0, 0.73), (16, 3.0, 0.95)])
def test_power_is_the_published_one(count: int, gap: float, published: float) -> None:
    a_better, b_better, covered = calls(count, gap, 60)
    assert abs(a_better / 60 - published) < 0.17
    assert b_better == 0
    assert covered / 60 >= 0.75


@pytest.mark.parametrize("count", [10, 16, 30])
def test_equal_settings_are_seldom_called_different(count: int) -> None:
    a_better, b_better, _ = calls(count, 0.0, 60)
    assert at_most(a_better + b_better, 60, 0.09)


@pytest.mark.slow
@pytest.mark.parametrize("surface", [3.0, 10.0])
@pytest.mark.parametrize("count", [16, 30])
def test_equal_settings_over_many_studies(count: int, surface: float) -> None:
    a_better, b_better, covered = calls(count, 0.0, 600, surface)
    assert at_most(a_better + b_better, 600, 0.09)
    assert 0.84 <= covered / 600 <= 0.98


def test_the_shared_region_by_hand() -> None:
    a = np.arange(12.0)
    found = shared_region(a, a + 2)
    assert found is not None
    assert (found.difference, found.points) == (2.0, 4)
    assert found.interval == (2.0, 2.0)
    assert shared_region(a[:3], a[:3]) is None


def test_whether_both_are_best_in_the_same_place() -> None:
    a = np.arange(16.0)
    assert same_place(a, a + 5)
    assert not same_place(a, a[::-1])


def test_the_interval_of_the_shared_region_is_students() -> None:
    a, gaps = np.zeros(12), np.arange(12.0)
    found = shared_region(a + np.arange(12), np.arange(12) + gaps)
    assert found is not None
    # gaps 0, 1, 2, 3: mean 1.5, sd 1.29, and 2.353 is Student's 95 % point with 3 of freedom
    half = 2.353 * np.std([0, 1, 2, 3], ddof=1) / 2
    assert found.interval == pytest.approx((1.5 - half, 1.5 + half), abs=1e-3)


@pytest.mark.parametrize("halves", [separate_halves, shared_halves])
def test_values_at_the_ends_of_a_float_give_finite_answers(halves) -> None:
    low, high = np.full(6, -1e308), np.array([*[-1e308] * 5, 1e308])
    with np.errstate(all="raise"):
        found = halves(low, high)
        region = shared_region(low, high[::-1])
    assert found is not None and region is not None
    assert np.isfinite([found.difference, *found.interval, found.half_gap, found.quarter_gap]).all()
    assert np.isfinite(region.difference)
