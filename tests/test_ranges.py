"""`tunewright.ranges` names every kind of range that the package registers."""

from __future__ import annotations

import pytest

import tunewright as tw
from tunewright import ranges


def test_every_kind_of_ours_is_named() -> None:
    ours = {kind for kind in ranges.kinds().values() if kind.__module__.startswith("tunewright.")}
    named = {getattr(ranges, name) for name in ranges.__all__}
    assert ours <= named
    assert {kind.kind for kind in ours} <= set(ranges.__all__)


@pytest.mark.parametrize("name", ["choice", "integers", "linear", "log"])
def test_the_usual_ones_have_short_names(name: str) -> None:
    assert getattr(tw, name) is getattr(ranges, name)


@pytest.mark.parametrize(
    "made",
    [
        tw.log(1e-3, 1.0),
        tw.linear(0.0, 1.0),
        tw.integers(1, 9),
        tw.choice("a", "b"),
        ranges.log_from_one(0.9, 0.99),
        ranges.powers_of_two(16, 64),
    ],
)
def test_a_range_as_python_writes_it_is_that_range(made: ranges.Range) -> None:
    assert eval(made.call, {"tw": tw}) == made
