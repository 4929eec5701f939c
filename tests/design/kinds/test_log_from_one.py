from __future__ import annotations

from tunewright.design.kinds.log_from_one import log_from_one
from tunewright.testing import check_range


def test_it_keeps_the_contract() -> None:
    own = log_from_one(0.9, 0.99)
    check_range(own)
    assert own.widen("high").range == log_from_one(0.9, 0.999)
    assert own.narrow(0.2, 0.8) == log_from_one(0.936, 0.985)
    assert own.call == f"tw.ranges.{own}"


def test_a_part_never_reaches_beyond_the_range() -> None:
    own = log_from_one(0.9123, 0.9911)
    part = own.narrow(0.001, 0.999)
    assert part is not None and own.low <= part.low < part.high <= own.high
