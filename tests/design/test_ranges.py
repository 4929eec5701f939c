from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from tests.strategies import ranges, units, values

from tunewright.design.ranges import (
    Choice,
    Integers,
    Range,
    as_range,
    check_plain,
    choice,
    integers,
    linear,
    log,
    log_from_one,
    same_value,
    short,
)
from tunewright.errors import DesignError


@given(ranges(), units)
def test_a_value_keeps_its_place(searched: Range, unit: float) -> None:
    value = searched.value(unit)
    again = searched.value(searched.unit(value))
    assert again == value and type(again) is type(value)
    assert 0.0 <= searched.unit(value) <= 1.0


@given(ranges())
def test_the_ends_are_reached_exactly(searched: Range) -> None:
    assume(not isinstance(searched, Choice))
    assert searched.value(0.0) == searched.low
    assert searched.value(1.0) == searched.high
    assert searched.value(searched.unit(searched.low)) == searched.low
    assert searched.value(searched.unit(searched.high)) == searched.high


@given(ranges(), units, units)
def test_values_grow_with_the_position(searched: Range, a: float, b: float) -> None:
    assume(not isinstance(searched, Choice))
    low, high = searched.value(min(a, b)), searched.value(max(a, b))
    assert searched.low <= low <= high <= searched.high


@given(values)
def test_every_plain_value_can_be_a_choice(value: object) -> None:
    assert same_value(choice(value).value(0.5), value)


def test_scales_put_the_middle_where_they_say() -> None:
    assert linear(0, 4).value(0.5) == 2.0
    assert math.isclose(log(1e-4, 1e-2).value(0.5), 1e-3)
    assert math.isclose(log_from_one(0.9, 0.999).value(0.5), 0.99)
    assert integers(1, 4).value(0.5) == 3
    assert integers(1, 1023, log=True).value(0.5) == 32


def test_whole_numbers_and_choices_get_equal_shares() -> None:
    grid = [(i + 0.5) / 1200 for i in range(1200)]
    assert set(Counter(map(integers(3, 6).value, grid)).values()) == {300}
    assert set(Counter(map(choice("a", "b", "c").value, grid)).values()) == {400}


def test_a_choice_tells_true_from_one_but_not_one_from_one_point_nought() -> None:
    assert choice(True, 1).unit(1) == 0.75
    assert choice(2, 1.0).unit(1) == 0.75


def test_numbers_of_numpy_are_taken_as_plain_ones() -> None:
    searched = linear(np.float32(0.5), np.int64(2))
    assert (type(searched.low), searched) == (float, linear(0.5, 2.0))
    assert integers(np.int64(1), np.int64(3)) == Integers(1, 3)
    assert [type(v) for v in choice(*np.array([1, 2])).values] == [int, int]
    assert linear(0, 1).unit(np.float64(0.25)) == 0.25


def test_a_list_is_a_choice_and_a_plain_value_no_range() -> None:
    assert as_range([1, 2]) == as_range((1, 2)) == as_range(range(1, 3)) == choice(1, 2)
    assert as_range("adam") is as_range(0.1) is as_range(None) is None


def test_ordered_choices_are_known() -> None:
    assert choice(1, 2.5, 8).ordered and choice(3, 2).ordered
    assert not choice(1, 3, 2).ordered and not choice("a", "b").ordered
    assert not choice(False, True).ordered


def test_short_loses_no_digit() -> None:
    for x in (0.1, 1e-5, 1 / 3, 123456789.125, 5e-324):
        assert float(short(x)) == x


NAN, INF = float("nan"), float("inf")
REFUSED = [
    (lambda: log(0, 1), "log(0, 1): a log range needs 0 < low < high. For a range that touches"),
    (lambda: log(-1, 1), "use linear(), or search 1 - x with log_from_one()"),
    (lambda: linear(NAN, 1), "linear(): low is nan; bounds must be finite numbers"),
    (lambda: log(1, INF), "log(): high is inf; bounds must be finite numbers"),
    (lambda: linear(2, 1), "linear(2, 1): low is above high; did you mean linear(1, 2)?"),
    (
        lambda: log(3, 3),
        "log(3, 3): low equals high, so there is nothing to search. Put the value 3",
    ),
    (lambda: linear("0", 1), "linear(): low is '0', not a number"),
    (lambda: linear(0, True), "linear(): high is True, not a number"),
    (lambda: linear(0, 10**400), "beyond 2**53; write it as a float"),
    (lambda: linear(-1.7e308, 1.7e308), "the range is too wide for a float"),
    (lambda: log(1e10, math.nextafter(1e10, INF)), "the ends have the same logarithm"),
    (lambda: log_from_one(0.9, 1), "log_from_one(0.9, 1): it searches 1 - x on a log scale"),
    (
        lambda: integers(1.0, 2),
        "integers(): low is 1.0, not a whole number. For fractions use linear()",
    ),
    (lambda: integers(0, 2**53 + 1), "beyond 2**53, where neighbours can no longer be told apart"),
    (lambda: integers(0, 8, log=True), "integers(0, 8, log=True): a log range needs 0 < low"),
    (lambda: integers(1, 8, log="yes"), "integers(): log is 'yes'; it is True or False"),
    (lambda: integers(5, 5), "integers(5, 5): low equals high"),
    (lambda: choice(), "choice(): no values. Name at least one, or leave the name out"),
    (lambda: choice(1, NAN), "choice(): value 2: nan is not a finite number"),
    (lambda: choice("a", "b", "a"), "choice(): 'a' is listed twice; each value stands once"),
    (lambda: choice(1, 1.0), "choice(): 1.0 is listed twice"),
    (lambda: choice({"a": 1}), "is a dict. Values are numbers, text, True, False or None"),
    (lambda: choice(2**53 + 1), "is beyond 2**53; give it as text or as a logarithm"),
    (lambda: choice("\ud800"), "holds a NUL or half a character"),
    (lambda: choice("a\0b"), "holds a NUL or half a character"),
]


@pytest.mark.parametrize("attempt, said", REFUSED, ids=[said[:40] for _, said in REFUSED])
def test_bad_bounds_and_values_are_refused_when_declared(attempt, said) -> None:
    with pytest.raises(DesignError) as refusal:
        attempt()
    assert said in str(refusal.value)


def test_values_outside_a_range_have_no_place() -> None:
    for searched, value, said in [
        (log(1, 2), 3, "3 lies outside log(1, 2)"),
        (linear(0, 1), "x", "'x' is not a number of linear(0, 1)"),
        (linear(0, 1), True, "True is not a number"),
        (integers(1, 4), 2.5, "2.5 is not a whole number of integers(1, 4)"),
        (choice("a", "b"), "c", "'c' is not one of ['a', 'b']"),
    ]:
        with pytest.raises(DesignError) as refusal:
            searched.unit(value)
        assert said in str(refusal.value)


def test_functions_are_no_values() -> None:
    with pytest.raises(DesignError, match="look the object up in the training function"):
        check_plain(print, "fixed activation")
