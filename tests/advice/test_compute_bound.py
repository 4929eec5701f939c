from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.advice.extend import first_length, increasing, length_plan
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


def test_rounds_between_grow_by_the_same_factor_and_train_fewer() -> None:
    plan = length_plan(100_000, rounds=3)
    assert [own.purpose for own in plan.rounds] == ["first", "between", "last"]
    lengths = [own.max_train_steps for own in plan.rounds]
    assert lengths == [10_000, 32_000, 100_000]
    assert [own.trials for own in plan.rounds] == [30, 12, 5]
    assert all(own.what for own in plan.rounds)
    assert [own.max_train_steps for own in length_plan(50_000, rounds=1).rounds] == [50_000]


@given(steps=st.integers(1, 10**8), trials=st.integers(1, 100), rounds=st.integers(1, 3))
def test_every_plan_grows_to_the_production_length(steps: int, trials: int, rounds: int) -> None:
    plan = length_plan(steps, trials=trials, rounds=rounds)
    lengths = [own.max_train_steps for own in plan.rounds]
    assert lengths == sorted(set(lengths)) and lengths[-1] == steps
    assert 1 <= len(lengths) <= rounds
    counts = [own.trials for own in plan.rounds]
    assert counts == sorted(counts, reverse=True) and min(counts) >= 1


@pytest.mark.parametrize("rounds", [0, 4, True, 2.0])
def test_other_numbers_of_rounds_are_refused(rounds: int) -> None:
    with pytest.raises(DesignError) as refused:
        length_plan(1000, rounds=rounds)
    assert refused.value.code == "advice.bad_rounds"


def test_increasing_lengths() -> None:
    assert increasing(500) == (500, 1500, 4500)
    assert increasing(500, rounds=1) == (500,)
