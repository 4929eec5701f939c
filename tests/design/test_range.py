"""What every kind inherits: wider, narrower and joined ranges, positions, ticks, data."""

from __future__ import annotations

import pytest

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
