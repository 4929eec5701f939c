"""The range that values were drawn from, guessed from the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as for_all, strategies as st
from tests.strategies import ranges, units, values

from tunewright.design.ranges import Choice, Integers, Linear, Log, LogFromOne, Range
from tunewright.importers.roles import guess_range

KINDS: list[Range] = [
    Log(1e-5, 1e-1),
    Linear(0.0, 0.8),
    LogFromOne(0.9, 0.9999),
    Integers(1, 1000, log=True),
    Integers(-50, 50),
]


@pytest.mark.parametrize("true", KINDS, ids=str)
def test_the_scale_is_found_from_forty_values(true: Range) -> None:
    right = 0
    for seed in range(50):
        drawn = [true.value(u) for u in np.random.default_rng(seed).random(40).tolist()]
        found = guess_range(drawn)
        right += type(found) is type(true) and getattr(found, "log", None) == getattr(
            true, "log", None
        )
        for value in drawn:
            assert found.value(found.unit(value)) == pytest.approx(value)
    assert right >= 45


def test_the_ends_lie_a_little_beyond_what_was_seen() -> None:
    found = guess_range([0.12, 0.3, 0.5, 0.7])
    assert found == Linear(0.0, 0.9)
    share = guess_range([0.0, 0.31, 0.72, 1.0])
    assert share == Linear(0.0, 1.0), "a share is not searched beyond 0 and 1"


def test_values_that_come_back_are_a_list() -> None:
    assert guess_range([64, 32, 64, 32, 128, 128]) == Choice((32, 64, 128))
    assert guess_range(["b", "a", "b"]) == Choice(("b", "a"))
    assert guess_range([1, None, 2]) == Choice((1, None, 2))


@for_all(st.lists(values, min_size=2, max_size=8))
def test_every_value_lies_in_its_range(drawn: list[object]) -> None:
    if len({(isinstance(v, bool), v) for v in drawn}) < 2:
        return
    found = guess_range(drawn)  # type: ignore[arg-type]
    for value in drawn:
        assert 0.0 <= found.unit(value) <= 1.0  # type: ignore[arg-type]


@for_all(ranges(), st.lists(units, min_size=3, max_size=12, unique=True))
def test_every_value_of_any_range_lies_in_the_guess(true: Range, drawn: list[float]) -> None:
    found_values = [true.value(unit) for unit in drawn]
    if len({(isinstance(v, bool), v) for v in found_values}) < 2:
        return
    found = guess_range(found_values)
    for value in found_values:
        assert 0.0 <= found.unit(value) <= 1.0
