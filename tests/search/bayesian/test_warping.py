from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as forall, strategies as st

from tunewright.search.bayesian.model import warp_values

VALUES = st.lists(
    st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False), min_size=1, max_size=40
)


@forall(values=VALUES, bend=st.sampled_from([0.0, 0.5, 5.0]), halves=st.booleans())
def test_the_order_is_kept_and_the_scale_is_standard(
    values: list[float], bend: float, halves: bool
) -> None:
    told, warp = warp_values(np.array(values), bend, halves)
    assert np.isfinite(told).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(told[order]) >= -1e-9).all()
    if told.std() > 0:
        assert told.mean() == pytest.approx(0.0, abs=1e-6) and told.std() == pytest.approx(1.0)
    assert np.isfinite(warp.warped).all()


@forall(values=st.lists(st.integers(-1000, 1000), min_size=1, max_size=40))
def test_the_way_back_leads_back(values: list[int]) -> None:
    told, warp = warp_values(np.array(values, dtype=float))
    assert warp.back(told) == pytest.approx(values, abs=1e-6)


def test_beyond_the_best_value_the_way_back_goes_on_falling() -> None:
    _, warp = warp_values(np.linspace(1.0, 2.0, 11))
    best = warp.warped[0]
    further = warp.back(np.array([best, best - 0.5, best - 1.0]))
    assert further[0] == 1.0 and 0.0 < further[2] < further[1] < 1.0


def test_one_terrible_value_leaves_the_good_ones_apart() -> None:
    good = np.linspace(0.1, 0.2, 10)
    plain, _ = warp_values(np.append(good, 1e6), bend=0.0, halves=False)
    robust, _ = warp_values(np.append(good, 1e6))
    assert np.ptp(plain[:10]) < 1e-5
    assert np.ptp(robust[:10]) > 1.5


def test_equal_values_are_all_zero() -> None:
    told, warp = warp_values(np.full(5, 7.0))
    assert told.tolist() == [0.0] * 5 and warp.back(told).tolist() == [7.0] * 5
    assert len(warp_values(np.array([]))[0]) == 0
