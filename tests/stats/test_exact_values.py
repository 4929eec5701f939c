"""Values of the statistics that can be computed by hand or by going through every case."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tunewright.stats.buckets import DRAWS, contrast
from tunewright.stats.crowding import pooled_look
from tunewright.stats.gain import gain
from tunewright.stats.half_sampling import shared_halves


@pytest.mark.parametrize(("mirrored", "side"), [(False, "high"), (True, "low")])
def test_studies_that_crowd_together_name_the_side(mirrored: bool, side: str) -> None:
    units = np.linspace(0, 1, 20)
    losses = (units - 1.3) ** 2
    found = pooled_look([1 - units if mirrored else units] * 4, [losses] * 4)
    assert found is not None
    assert found.side == side
    assert abs(found.best - 0.5) > 0.4


def test_a_trend_that_no_permutation_equals_has_the_smallest_chance() -> None:
    units = np.linspace(0, 1, 80)
    found = contrast(units, units)
    assert found is not None
    assert found.p == pytest.approx(1 / (DRAWS + 1))


def gap(a: np.ndarray, b: np.ndarray, size: int) -> float:
    """The mean gap between the best of b and of a, over all subsets of this size."""
    chosen = [list(one) for one in combinations(range(len(a)), size)]
    return float(np.mean([b[one].min() - a[one].min() for one in chosen]))


@pytest.mark.parametrize(("count", "half", "quarter"), [(8, 4, 2), (9, 5, 3), (11, 6, 3)])
def test_gaps_are_means_over_all_halves_and_quarters_rounded_up(
    count: int, half: int, quarter: int
) -> None:
    random = np.random.default_rng(count)
    a, b = random.random((2, count))
    found = shared_halves(a, b)
    assert found is not None
    assert found.half_gap == pytest.approx(gap(a, b, half))
    assert found.quarter_gap == pytest.approx(gap(a, b, quarter))
    assert found.difference == pytest.approx(b.min() - a.min())


def test_the_share_of_halves_that_each_arm_wins_is_that_of_all_halves() -> None:
    random = np.random.default_rng(3)
    a, b = random.random((2, 9))
    found = shared_halves(a, b)
    assert found is not None
    chosen = [list(one) for one in combinations(range(9), 5)]
    wins = np.mean([b[one].min() > a[one].min() for one in chosen])
    assert found.a_wins == pytest.approx(wins)
    assert found.a_wins + found.b_wins == pytest.approx(1)


def test_runs_without_any_spread_and_of_unequal_number_keep_their_degrees_of_freedom() -> None:
    found = gain([2.0] * 4, [1.0] * 3)
    assert (float(found.mean), float(found.error), float(found.freedom)) == (1.0, 0.0, 5.0)


def test_unequal_numbers_of_runs_have_the_freedom_of_welch() -> None:
    b, a = [1.0, 3.0, 2.0, 4.0], [1.0, 1.2, 0.8]
    found = gain(b, a)
    squares = np.var(b, ddof=1) / 4, np.var(a, ddof=1) / 3
    welch = sum(squares) ** 2 / (squares[0] ** 2 / 3 + squares[1] ** 2 / 2)
    assert float(found.error) == pytest.approx(np.sqrt(sum(squares)))
    assert float(found.freedom) == pytest.approx(welch)
