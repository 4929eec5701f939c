from __future__ import annotations

from tunewright.design.kinds.linear import linear
from tunewright.testing import check_range


def test_it_keeps_the_contract() -> None:
    own = linear(-1, 3)
    check_range(own)
    assert own.widen("high").range == linear(-1, 5)
    assert own.narrow(0.2, 0.8) == linear(-0.21, 2.2)
    assert own.call == f"tw.{own}"
