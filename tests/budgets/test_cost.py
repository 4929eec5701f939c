"""What trainings will cost: the range, its basis, money, and what it lacks of the budget."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, strategies as st

from tunewright.budgets.cost import CostEstimate, Price, Timing, Trainings, cost_of
from tunewright.errors import DesignError

times = st.floats(1e-3, 1e4)


def known(cost: CostEstimate) -> tuple[float, float, float, float]:
    assert cost.hours is not None and cost.clock_hours is not None
    return (*cost.hours, *cost.clock_hours)


def test_many_alike_leave_little_doubt() -> None:
    cost = cost_of([Trainings(10)], [Timing(360.0)] * 20, workers=4)
    assert known(cost) == pytest.approx((1.0, 1.0, 0.25, 0.3))  # three waves of 0.1 h
    assert (cost.basis, cost.seen, cost.trainings) == ("round", 20, (10, 10))


def test_nothing_left_costs_nothing_and_nothing_known_is_unknown() -> None:
    assert cost_of([], []).hours == (0.0, 0.0)
    assert cost_of([Trainings(0)], []).hours == (0.0, 0.0)
    unknown = cost_of([Trainings(3)], [], price=Price(2.0))
    assert (unknown.hours, unknown.money, unknown.basis) == (None, None, "unknown")
    with pytest.raises(DesignError) as refused:
        cost_of([Trainings(1)], [Timing(1.0)], workers=0)
    assert refused.value.code == "budget.bad_workers"


@given(st.lists(times, min_size=1, max_size=30), st.integers(1, 500), st.integers(1, 64))
def test_the_range_holds_the_mean(seconds: list[float], trials: int, workers: int) -> None:
    cost = cost_of([Trainings(trials)], [Timing(s) for s in seconds], workers=workers)
    mean = sum(seconds) / len(seconds) * trials / 3600
    low, high, fast, slow = known(cost)
    assert 0 < low <= mean * (1 + 1e-9) and high >= mean * (1 - 1e-9)
    assert fast <= mean / workers * (1 + 1e-9) and slow >= mean / workers * (1 - 1e-9)


@given(
    begin=st.floats(0, 100),
    each=st.tuples(times, st.floats(0, 10), st.floats(0, 10)),
    short=st.tuples(st.integers(1, 10**4), st.integers(1, 100), st.integers(1, 512)),
    long=st.tuples(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 512)),
    number=st.integers(1, 50),
)
def test_one_training_bounds_every_other_length_of_a_program_of_known_speed(
    begin: float,
    each: tuple[float, float, float],
    short: tuple[int, int, int],
    long: tuple[int, int, int],
    number: int,
) -> None:
    """Whatever a program takes to begin, for a step, an example and an evaluation."""

    def seconds(length: tuple[int, int, int]) -> float:
        steps, evaluations, batch = length
        a_step, an_evaluation, an_example = each
        return begin + a_step * steps + an_evaluation * evaluations + an_example * steps * batch

    assume(short[0] != long[0])
    seen = Timing(seconds(short), short[0], short[1], short[0] * short[2])
    todo = Trainings(number, steps=long[0], evaluations=long[1], examples=long[0] * long[2])
    cost = cost_of([todo], [seen])
    low, high, _, _ = known(cost)
    truth = number * seconds(long) / 3600
    assert low <= truth * (1 + 1e-9) and truth <= high * (1 + 1e-9)
    assert cost.basis == "scaled"


def test_trainings_of_the_same_length_are_preferred() -> None:
    timings = [Timing(10.0, steps=100), Timing(1000.0, steps=5000)]
    cost = cost_of([Trainings(5, steps=100)], timings)
    assert (cost.seen, cost.basis) == (1, "round")
    low, high, _, _ = known(cost)
    assert low < 50 / 3600 < high < 150 / 3600, "one training: up to a factor of about two"


def test_a_number_that_is_a_range() -> None:
    cost = cost_of([Trainings(2), Trainings(0, 8)], [Timing(3600.0)] * 50)
    assert cost.trainings == (2, 10)
    low, high, _, _ = known(cost)
    assert (low, high) == pytest.approx((2.0, 10.0))


def test_money_needs_a_price_and_another_price_can_be_asked_for() -> None:
    cost = cost_of([Trainings(2)], [Timing(3600.0)] * 9, price=Price(3.0, "EUR"))
    assert cost.money == pytest.approx((6.0, 6.0))
    other = cost.priced(Price(0.5))
    assert other.money == pytest.approx((1.0, 1.0)) and cost.priced(None).money == cost.money
    assert cost_of([Trainings(2)], [Timing(3600.0)]).money is None


def test_what_it_may_exceed_of_the_budget() -> None:
    left = {"trials": 5, "hours": 2.5, "money": 100.0}
    cost = cost_of([Trainings(3)], [Timing(3600.0)] * 9, price=Price(1.0), left=left)
    assert cost.exceeds == ("hours",)
    assert cost_of([Trainings(6)], [], left=left).exceeds == ("trials",)
    assert cost.to_data()["exceeds"] == ["hours"]


def test_two_estimates_together() -> None:
    one = cost_of([Trainings(1)], [Timing(3600.0)] * 4)
    two = cost_of([Trainings(2)], [Timing(7200.0)] * 4, basis="measured")
    both = one.plus(two)
    assert both.trainings == (3, 3) and both.basis == "measured"
    assert both.hours == pytest.approx((5.0, 5.0))
    assert one.plus(cost_of([Trainings(2)], [])).hours is None


@pytest.mark.parametrize("text", ["", "free", "-1", "nan", "inf", "1.2.3", "2 3", "1e999"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(DesignError) as refused:
        Price.read(text)
    assert refused.value.code in ("budget.bad_price", "budget.bad_amount")
    assert str(refused.value)


@given(st.floats(0, 1e6, allow_subnormal=False), st.sampled_from(["", "EUR", "¥", "US$", "元"]))
def test_a_price_is_read_as_it_is_written(per_hour: float, currency: str) -> None:
    assert Price.read(f"{per_hour!r} {currency}") == Price(per_hour, currency)
    assert math.isfinite(Price.read(f"{per_hour!r}{currency}").per_hour)
