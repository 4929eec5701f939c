from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.advice.compute_bound import first_length, length_plan
from tunewright.errors import DesignError


@given(steps=st.integers(1, 10**9), warmup=st.integers(0, 10**6))
def test_round_one_is_a_tenth_or_ten_warm_ups_and_never_longer(steps: int, warmup: int) -> None:
    short = first_length(steps, warmup)
    assert 1 <= short <= steps
    assert short == steps or short >= 10 * warmup
    assert short == steps or short >= round(0.1 * steps)


def test_round_two_is_few_long_trainings() -> None:
    plan = length_plan(50_000, warmup_steps=100, trials=20)
    assert [(own.max_train_steps, own.trials) for own in plan.rounds] == [(5000, 20), (50_000, 5)]
    assert plan.steps == 5000 * 20 + 50_000 * 5
    assert len(length_plan(1000, warmup_steps=200).rounds) == 1


@pytest.mark.parametrize("steps", [0, -1, 1.5, True])
def test_refusals(steps: float) -> None:
    with pytest.raises(DesignError, match="not a whole number of steps"):
        first_length(steps)  # type: ignore[arg-type]
