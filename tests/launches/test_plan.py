"""Plans and their thresholds: the calibrated constants, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.errors import DesignError
from tunewright.launches.launch import (
    CLAIMS,
    FIVE_LOOKS,
    NINE_LOOKS,
    TWO_LOOKS,
    Plan,
    fixed,
    runs_for,
)


def thresholds(plan: Plan, **how) -> tuple[float, ...]:
    return tuple(plan.threshold(claim, **{"not_worse": False, **how}) for claim in CLAIMS)


def test_the_calibrated_thresholds():
    assert thresholds(fixed(5)) == (0.90, 0.78)
    assert thresholds(fixed(1)) == (0.90, 0.75)
    assert thresholds(TWO_LOOKS) == (0.94, 0.845)
    assert thresholds(FIVE_LOOKS) == (0.965, 0.87)
    assert thresholds(NINE_LOOKS) == (0.97, 0.875)


def test_a_small_difference_or_no_giving_up_takes_more():
    assert thresholds(FIVE_LOOKS, detect_in_sd=0.5) == (0.97, 0.90)
    assert thresholds(NINE_LOOKS, detect_in_sd=0.5) == (0.975, 0.91)
    assert thresholds(FIVE_LOOKS, detect_in_sd=2.0) == (0.965, 0.87)
    stubborn = Plan(FIVE_LOOKS.looks, gives_up=False)
    assert thresholds(stubborn) == (0.97, 0.905)
    assert thresholds(Plan(NINE_LOOKS.looks, gives_up=False)) == (0.977, 0.918)
    assert FIVE_LOOKS.stops_early and not stubborn.stops_early and not TWO_LOOKS.stops_early


def test_a_margin_is_asked_alike_of_every_claim():
    assert thresholds(fixed(5), not_worse=True) == (0.90, 0.90)
    assert thresholds(FIVE_LOOKS, not_worse=True) == (0.97, 0.97)


@given(
    st.sampled_from([fixed(1), fixed(5), TWO_LOOKS, FIVE_LOOKS, NINE_LOOKS]),
    st.integers(1, 30),
    st.booleans(),
)
def test_more_candidates_never_take_less(plan, candidates, not_worse):
    for claim in CLAIMS:
        one, more = (
            plan.threshold(claim, not_worse=not_worse, candidates=n)
            for n in (candidates, candidates + 1)
        )
        assert 0.5 < one <= more < 1


def test_looks_grow_and_are_calibrated_for():
    with pytest.raises(DesignError, match="calibrated"):
        Plan((3, 5, 8))
    with pytest.raises(DesignError, match="that grow"):
        Plan((10, 5))
    with pytest.raises(DesignError, match="from 1"):
        fixed(0)


def test_runs_are_planned_for_a_gain():
    assert runs_for(5.0, 0.90) == 3  # never fewer: they must know a spread
    with pytest.raises(ValueError, match="above zero"):
        runs_for(0.0, 0.90)
