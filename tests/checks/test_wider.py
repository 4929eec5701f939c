from __future__ import annotations

import pytest

from tunewright.checks.wider import NaturalBound, natural_bound, wider
from tunewright.design.names import Meaning
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
    found = wider(searched, side)  # type: ignore[arg-type]
    assert found is not None
    assert str(found.range) == grown
    assert found.times > 1


def test_a_list_has_no_next_value() -> None:
    assert wider(choice(1, 2, 3), "high") is None


def test_natural_bounds() -> None:
    meaning = Meaning({"clip_norm": "clip"}, off={"clip_norm": 10.0})  # by its meaning
    assert natural_bound("dropout", linear(0.0, 0.5), "low", meaning) == NaturalBound(0.0, off=True)
    assert natural_bound("dropout", choice(0.0, 0.1, 0.2), "low", meaning) == NaturalBound(
        0.0, True
    )
    assert natural_bound("clip", linear(1.0, 10.0), "high", meaning) == NaturalBound(10.0, off=True)
    assert natural_bound("momentum", linear(0.5, 1.0), "high", meaning) == NaturalBound(1.0)
    assert natural_bound("width", integers(0, 8), "low", meaning) == NaturalBound(0.0)
    assert natural_bound("learning_rate", log(1e-4, 1e-1), "low", meaning) is None
    assert natural_bound("width", linear(0.5, 1.0), "high", meaning) is None
