"""What an axis can show: extreme values are set aside, and every axis has a width."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tunewright.present.figures.ticks import LARGEST, drawable, extent, is_wide

ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(ANY))
def test_what_is_drawn_is_small_enough_to_subtract(values: list[float]) -> None:
    shown = drawable(values)
    kept = shown[np.isfinite(shown)]
    assert (np.abs(kept) <= LARGEST).all()
    low, high = extent(values)
    assert np.isfinite(high - low) and high > low


def test_a_logarithm_needs_values_above_zero() -> None:
    assert is_wide(np.array([1e-3, 1.0])) and not is_wide(drawable([5e-324, 1.0]))
