from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.design.range import MOST_TICKS
from tunewright.design.ranges import Choice, Integers, Linear, Log, LogFromOne, Range
from tunewright.present.figures.ticks import label_of, ticks


@pytest.mark.parametrize(
    ("searched", "labels"),
    [
        (Linear(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (Linear(-3.0, 7.0), ["-2", "0", "2", "4", "6"]),
        (Log(1e-6, 1e2), ["1e-6", "1e-4", "0.01", "1", "100"]),
        (Integers(1, 3), ["1", "2", "3"]),
        (Integers(16, 1024, log=True), ["20", "50", "100", "200", "500", "1000"]),
        (Choice(("adam", None, True)), ["adam", "None", "True"]),
    ],
)
def test_round_values_are_labelled(searched: Range, labels: list[str]) -> None:
    assert [tick.label for tick in ticks(searched)] == labels


bounds = st.tuples(st.floats(1e-9, 1e9), st.floats(1.001, 1e6))


@given(bounds, st.sampled_from([Linear, Log]))
def test_ticks_of_any_range_lie_on_it_in_order(
    bounds: tuple[float, float], kind: type[Linear] | type[Log]
) -> None:
    low, factor = bounds
    searched = kind(low, low * factor)
    made = ticks(searched)
    positions = [tick.position for tick in made]
    assert 1 <= len(made) <= MOST_TICKS + 1
    assert positions == sorted(positions)
    assert all(0 <= position <= 1 for position in positions)


@given(st.floats(0.0, 0.99), st.floats(1e-5, 0.5))
def test_ticks_near_one(low: float, rest: float) -> None:
    high = 1 - (1 - low) * rest
    made = ticks(LogFromOne(low, high))
    assert made
    assert all(0 <= tick.position <= 1 for tick in made)


def test_names_are_made_fit_for_a_figure() -> None:
    assert label_of("a\x1bb\nc") == "a?b?c"
    assert len(label_of("x" * 500)) == 40
