"""What every kind inherits: wider, narrower and joined ranges, positions, ticks, data."""

from __future__ import annotations

import pytest

from tunewright.design.range import Bins
from tunewright.design.ranges import Range, choice, integers, linear, log, log_from_one


@pytest.mark.parametrize(
    ("searched", "side", "grown"),
    [
        (log(1e-4, 1e-1), "low", "log(1e-05, 0.1)"),
        (log(1e-4, 1e-1), "high", "log(0.0001, 1)"),
        (log_from_one(0.9, 0.99), "high", "log_from_one(0.9, 0.999)"),
        (log_from_one(0.9, 0.99), "low", "log_from_one(0, 0.99)"),
        (linear(0.0, 1.0), "high", "linear(0, 1.5)"),
        (linear(2.0, 4.0), "low", "linear(1, 4)"),
        (integers(1, 5), "high", "integers(1, 7)"),
        (integers(64, 512, log=True), "high", "integers(64, 1024, log=True)"),
        (integers(64, 512, log=True), "low", "integers(32, 512, log=True)"),
    ],
)
def test_one_end_moves_and_the_other_stays(searched: Range, side: str, grown: str) -> None:
    found = searched.widen(side)  # type: ignore[arg-type]
    assert found is not None
    assert str(found.range) == grown
    assert found.times > 1


def test_a_list_has_no_next_value() -> None:
    assert choice(1, 2, 3).widen("high") is None


def test_parts_of_the_unit_interval() -> None:
    assert list(Bins(0, 3).middles()) == [0.125, 0.375, 0.625, 0.875]
    own = integers(1, 40, log=True)
    assert [own.value(middle) for middle in own.bins.middles()] == list(range(1, 41))
    assert own.bins.count == own.count == 40


def test_hulls_and_shares_of_other_kinds() -> None:
    assert log(1, 2).hull(linear(0, 9)) == log(1, 2)
    assert choice(1, 2).hull(choice(3, 4)) == choice(1, 2)
    assert linear(0, 2).covered(linear(5, 9)) == 0.0
    assert linear(0, 2).covered(choice(1)) == 1.0
    assert choice(1, 2).covered(choice(2, 3)) == 0.5
    assert integers(1, 10).covered(linear(3.5, 20)) == 0.8


def test_near_a_value_on_every_scale() -> None:
    assert log(1e-4, 1).near(0.01) == log(0.0032, 0.032)
    assert log_from_one(0.5, 0.99).near(0.9) == log_from_one(0.6838, 0.9684)
    assert linear(0, 1).near(0.5) == linear(0.25, 0.75)
    assert integers(1, 64).near(10) == integers(3, 32)
    assert log(1e-4, 1).near(-1) is None and choice(1, 2).near(1) is None


def test_how_python_writes_it() -> None:
    assert [r.call for r in (log(0.1, 1), choice(1, "a"))] == [
        "tw.log(0.1, 1)",
        "tw.choice(1, 'a')",
    ]


def test_no_wider_range_beyond_every_float() -> None:
    assert log(1e-300, 1e308).widen("high") is None
    assert log_from_one(0.5, 1 - 1e-16).widen("high") is None
