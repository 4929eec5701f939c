from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.design.range import MOST_TICKS, evenly, logarithmic, outwards, thin, without_dust


@given(st.floats(1e-9, 1e9))
def test_outwards_has_two_digits_and_never_cuts(x: float) -> None:
    up, down = outwards(x, up=True), outwards(x, up=False)
    assert down <= x * (1 + 1e-9) and x <= up * (1 + 1e-9)
    assert up == pytest.approx(float(f"{up:.2g}")) and outwards(0.0, up=True) == 0.0


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6))
def test_ticks_lie_between_the_ends(low: float, times: float) -> None:
    for made in (evenly(low, low * times), logarithmic(low, low * times)):
        assert all(low <= x <= low * times for x in made)
        assert 1 <= len(made) <= MOST_TICKS + 1 and made == sorted(made)


def test_long_lists_are_thinned_and_dust_goes() -> None:
    assert list(thin(range(10), 4)) == [0, 3, 6, 9]
    assert without_dust(0.1 + 0.2) == 0.3
