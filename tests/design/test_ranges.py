from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from tests.problems import states
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
    (lambda: log(0, 1), ("range.log_from_zero", {"range": "log(0, 1)"})),
    (lambda: log(-1, 1), ("range.log_from_zero", {"range": "log(-1, 1)"})),
    (lambda: linear(NAN, 1), ("range.bound_not_finite", {"kind": "linear", "bound": "low"})),
    (lambda: log(1, INF), ("range.bound_not_finite", {"kind": "log", "bound": "high"})),
    (lambda: linear(2, 1), ("range.low_above_high", {"kind": "linear", "low": "2", "high": "1"})),
    (
        lambda: log(3, 3),
        ("range.low_equals_high", {"kind": "log", "low": "3", "high": "3"}),
    ),
    (
        lambda: linear("0", 1),
        ("range.bound_not_number", {"kind": "linear", "bound": "low", "value": "0"}),
    ),
    (
        lambda: linear(0, True),
        ("range.bound_not_number", {"kind": "linear", "bound": "high", "value": True}),
    ),
    (lambda: linear(0, 10**400), ("range.bound_too_large", {"kind": "linear", "bound": "high"})),
    (
        lambda: linear(-1.7e308, 1.7e308),
        ("range.too_wide", {"range": "linear(-1.7e+308, 1.7e+308)"}),
    ),
    (
        lambda: log(1e10, math.nextafter(1e10, INF)),
        ("range.same_logarithm", {"range": "log(1e+10, 10000000000.000002)"}),
    ),
    (lambda: log_from_one(0.9, 1), ("range.high_not_below_one", {"range": "log_from_one(0.9, 1)"})),
    (
        lambda: integers(1.0, 2),
        ("range.bound_not_whole", {"bound": "low", "value": 1.0}),
    ),
    (
        lambda: integers(0, 2**53 + 1),
        ("range.whole_bound_too_large", {"bound": "high", "value": 9007199254740993}),
    ),
    (
        lambda: integers(0, 8, log=True),
        ("range.log_integers_from_zero", {"range": "integers(0, 8, log=True)"}),
    ),
    (lambda: integers(1, 8, log="yes"), ("range.bad_log_flag", {"log": "yes"})),
    (
        lambda: integers(5, 5),
        ("range.low_equals_high", {"kind": "integers", "low": "5", "high": "5"}),
    ),
    (lambda: choice(), ("range.no_choices", {})),
    (lambda: choice(1, NAN), ("value.not_finite", {"place": "choice(): value 2"})),
    (lambda: choice("a", "b", "a"), ("range.choice_twice", {"value": "a"})),
    (lambda: choice(1, 1.0), ("range.choice_twice", {"value": 1.0})),
    (
        lambda: choice({"a": 1}),
        ("value.not_plain", {"place": "choice(): value 1", "value": {"a": 1}, "type": "dict"}),
    ),
    (
        lambda: choice(2**53 + 1),
        ("value.beyond_integers", {"place": "choice(): value 1", "value": 9007199254740993}),
    ),
    (lambda: choice("\ud800"), ("value.unstorable", {"place": "choice(): value 1"})),
    (
        lambda: choice("a\0b"),
        ("value.unstorable", {"place": "choice(): value 1", "value": "a\x00b"}),
    ),
]


@pytest.mark.parametrize("attempt, said", REFUSED, ids=[said[0] for _, said in REFUSED])
def test_bad_bounds_and_values_are_refused_when_declared(attempt, said) -> None:
    with pytest.raises(DesignError) as refusal:
        attempt()
    assert states(refusal.value, *said)


def test_values_outside_a_range_have_no_place() -> None:
    for searched, value, code in [
        (log(1, 2), 3, "range.value_outside"),
        (linear(0, 1), "x", "range.value_not_number"),
        (linear(0, 1), True, "range.value_not_number"),
        (integers(1, 4), 2.5, "range.value_not_whole"),
        (choice("a", "b"), "c", "range.not_a_choice"),
    ]:
        with pytest.raises(DesignError) as refusal:
            searched.unit(value)
        assert states(refusal.value, code, {"value": value})


def test_functions_are_no_values() -> None:
    with pytest.raises(DesignError) as refusal:
        check_plain(print, "fixed activation")
    assert states(refusal.value, "value.not_plain", {"place": "fixed activation"})
