from __future__ import annotations

from hypothesis import given, strategies as st

from tunewright.design.ranges import linear
from tunewright.design.registry import between, invert


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_position_of_a_value_is_found_from_any_guess(position: float, guess: float) -> None:
    def value(unit: float) -> float:
        return unit**3

    assert value(invert(value, guess, value(position))) == value(position)


def test_a_value_that_is_not_reached_has_the_nearest_position() -> None:
    assert invert(lambda unit: unit / 2, 0.1, 0.9) == 1.0


def test_rounding_never_leaves_the_range() -> None:
    own = linear(1, 2)
    assert between(own, 0.5, lambda: 2.0000001) == 2.0
    assert between(own, -1.0, lambda: 5.0) == 1.0
