"""Time and money by batch size: what is known, what is assumed, and which size is chosen."""

from __future__ import annotations

import pytest

from tunewright.errors import DesignError
from tunewright.probes.throughput.size_answer import Cost, SizeCost, costs, least_price, least_time


def test_hours_and_prices() -> None:
    cost = Cost(price_per_device_hour=3.0, upfront=10.0, steps={100: 36_000})
    small, large = costs({100: 0.1, 200: 0.15}, cost, devices=4)
    assert small == SizeCost(100, 36_000, pytest.approx(1.0), pytest.approx(3 * 4 * 1 + 10))
    assert large.steps == 18_000 and large.hours == pytest.approx(0.75)


def test_beyond_the_critical_batch_size_a_larger_one_only_costs() -> None:
    cost = Cost(steps={64: 10_000}, critical_batch_size=256)
    assert [cost.steps_at(b) for b in (32, 64, 256, 1024)] == [20_000, 10_000, 2_500, 2_500]
    rows = costs({64: 0.010, 256: 0.012, 1024: 0.030}, cost)
    assert least_time(rows) == 256 and least_price(rows) == 256


def test_measured_steps_are_used_between_and_not_beyond() -> None:
    cost = Cost(steps={64: 8_000, 256: 4_000})
    assert cost.steps_at(64) == 8_000 and cost.steps_at(128) == pytest.approx(5_657, rel=1e-3)
    assert cost.steps_at(1024) == 4_000 and cost.steps_at(32) == 16_000
    assert "as given" in cost.assumption.text


def test_upfront_costs_of_a_size_can_decide() -> None:
    rows = costs({64: 0.02, 128: 0.02}, Cost(price_per_device_hour=1.0, upfront={128: 100.0}))
    assert least_time(rows) == 128 and least_price(rows) == 64


def test_ties_go_to_the_smaller_size_and_a_budget_is_kept() -> None:
    rows = [SizeCost(64, 1, 1.04, 5.0), SizeCost(128, 1, 1.0, 9.0), SizeCost(256, 1, 0.5, 20.0)]
    assert least_time(rows[:2]) == 64
    assert least_time(rows) == 256 and least_time(rows, budget=10.0) == 64
    assert least_time(rows, budget=1.0) is None and least_price(rows) == 64


def test_the_assumption_is_always_said() -> None:
    assert Cost().assumption.facts["examples"] == 1_000_000
    assert "1 / batch size" in Cost().assumption.text
    limited = Cost(steps={128: 100}, critical_batch_size=512).assumption
    assert limited.facts["critical_batch_size"] == 512 and "up to 512" in limited.text
    assert "100 steps at 128" in Cost(steps={128: 100}).assumption.text


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"price_per_device_hour": -1.0}, "0 or more"),
        ({"budget": float("nan")}, "0 or more"),
        ({"upfront": {8: -2.0}}, "0 or more"),
        ({"steps": {0: 100}}, "50_000"),
        ({"critical_batch_size": 0}, "at least 1"),
    ],
)
def test_prices_that_make_no_sense(wrong: dict, said: str) -> None:
    with pytest.raises(DesignError, match=said):
        Cost(**wrong)
