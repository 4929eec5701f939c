from __future__ import annotations

from tunewright.checks.boundary import NaturalBound, natural_bound
from tunewright.design.names import Meaning
from tunewright.design.ranges import choice, integers, linear, log


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
