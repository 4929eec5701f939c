from __future__ import annotations

from hypothesis import given, strategies as st

from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.design.study import budget, dimensions_for, trials_for


def test_the_playbooks_ladder() -> None:
    assert [dimensions_for(n) for n in (1, 9, 10, 24, 25, 49, 50)] == [1, 1, 2, 2, 3, 3, 4]


@given(st.integers(1, 200))
def test_both_directions_agree(dimensions: int) -> None:
    needed = trials_for(dimensions)
    assert dimensions_for(needed) == dimensions
    assert dimensions_for(needed - 1) == max(dimensions - 1, 1)


def test_the_budget_of_a_study() -> None:
    round = Round("r", goal="?", nuisance={"a": log(1, 2), "b": log(1, 2)}, trials_per_study=9)
    found = budget(round.studies[0])
    assert (found.dimensions, found.branches, found.suggested, found.enough) == (2, 1, 10, False)
