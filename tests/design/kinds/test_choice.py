from __future__ import annotations

import pytest

from tunewright.design.kinds.choice import choice, choices_of
from tunewright.design.ranges import integers
from tunewright.testing import check_range


@pytest.mark.parametrize(
    "own",
    [
        choice("adam", "sgd", None),
        choice(3, 2, 1),
        choice(1),
        choice(True, 1, "x"),
        choice(*range(40)),
    ],
)
def test_it_keeps_the_contract(own) -> None:
    check_range(own)
    assert own.choices == own.values and own.narrow(0.2, 0.8) is None


def test_falling_numbers_lie_the_other_way_round() -> None:
    assert choice(3, 2, 1).falls and not choice(1, 2).falls and not choice("b", "a").falls
    assert [choice(3, 2, 1).along(unit) for unit in (0.1, 0.5, 0.9)] == [1.0, 0.5, 0.0]


def test_the_values_of_a_list_alone() -> None:
    assert choices_of(choice(1, 2)) == (1, 2)
    assert choices_of(integers(1, 2)) is None and choices_of([1, 2]) is None
