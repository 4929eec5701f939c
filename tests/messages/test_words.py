from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from tunewright.messages import words


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (0.0130001, "0.013"),
        (2.71e-4, "2.71e-4"),
        (8.6e-3, "0.0086"),
        (99999.6, "100000"),
        (1e5, "1e5"),
        (-1.23456e-7, "-1.235e-7"),
        (float("inf"), "inf"),
        (7, "7"),
    ],
)
def test_numbers_on_a_screen(x: float, shown: str) -> None:
    assert words.number(x) == shown


@given(st.floats(min_value=-1e308, max_value=1e308))
def test_a_shown_number_is_right_to_four_digits(x: float) -> None:
    shown = float(words.number(x))
    assert math.isclose(shown, x, rel_tol=5.1e-4, abs_tol=1e-307)


@given(st.floats(min_value=0, max_value=1e9), st.floats(min_value=0, max_value=1e9))
def test_longer_times_never_read_as_shorter_units(a: float, b: float) -> None:
    units = ["s", "m", "h", "d"]

    def rank(text: str) -> int:
        return max(units.index(c) for c in text if c in units)

    low, high = sorted((a, b))
    assert rank(words.duration(low)) <= rank(words.duration(high))


def test_durations() -> None:
    assert words.duration(10200) == "2h50"
    assert words.duration_range(10200, 12600) == "2h50 to 3h30"


@given(st.text())
def test_printable_text_has_no_control_characters(text: str) -> None:
    shown = words.printable(text)
    assert shown.isprintable()
    assert text.isprintable() is (shown == text)


@given(st.lists(st.floats(), max_size=200), st.integers(min_value=1, max_value=60))
def test_a_sparkline_fits_and_marks_what_is_not_finite(values: list[float], width: int) -> None:
    line = words.sparkline(values, width)
    assert len(line) == min(width, len(values))
    if values and len(values) <= width:
        assert [c == "x" for c in line] == [not math.isfinite(v) for v in values]


def test_a_falling_curve_falls() -> None:
    heights = [words.BLOCKS.index(c) for c in words.sparkline([1 / (1 + i) for i in range(100)])]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == 7
    assert heights[-1] == 0
