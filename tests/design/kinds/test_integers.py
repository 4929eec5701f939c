from __future__ import annotations

from tunewright.design.kinds.integers import integers
from tunewright.testing import check_range


def test_it_keeps_the_contract() -> None:
    own = integers(1, 10)
    check_range(own)
    assert own.widen("high").range == integers(1, 15)
    assert own.narrow(0.2, 0.8) == integers(3, 9)
    assert own.call == f"tw.{own}"
