from __future__ import annotations

from tunewright.design.kinds.log import log
from tunewright.testing import check_range


def test_it_keeps_the_contract() -> None:
    own = log(1e-4, 1e-1)
    check_range(own)
    assert own.widen("high").range == log(1e-4, 1)
    assert own.narrow(0.2, 0.8) == log(0.00039, 0.026)
    assert own.call == f"tw.{own}"
