"""Longer training keeps what was tuned: the decay's length, the warm-up's length, the end rate."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.design.longer_schedule import share_at_tiny_rate, stretch
from tunewright.design.schedule import (
    Constant,
    Cosine,
    Linear,
    Piecewise,
    Rsqrt,
    Warmup,
    WarmupStableDecay,
)
from tunewright.errors import DesignError

old = st.integers(100, 2000)
extra = st.integers(0, 20_000)


@given(old, extra, st.none() | st.integers(1, 100), st.floats(0, 1))
def test_linear_keeps_its_decay_in_steps(length: int, more: int, decay: int | None, end: float):
    before, after = (
        Linear(decay, end),
        stretch(Linear(decay, end), length, length + more).schedule,
    )
    for step in range(1, length + 1, 17):
        shifted = after.factor(step + more, length + more)
        assert shifted == pytest.approx(before.factor(step, length), abs=1e-12)
    assert after.factor(max(more, 1), length + more) == 1.0


@given(old, extra, st.integers(1, 50), st.sampled_from(["within", "prepend"]))
def test_warmup_stays_and_the_extra_steps_run_at_the_base_rate(
    length: int, more: int, warmup: int, mode: str
) -> None:
    made = stretch(Warmup(warmup, Linear(), mode), length, length + more)
    after = made.schedule
    assert after.factor(warmup, length + more) == 1.0
    assert after.factor(warmup + more + 1, length + more) == 1.0
    assert after.total_steps(length + more) == length + more + (warmup if mode == "prepend" else 0)
    assert (made.rule.code, made.rule.facts["warmup_steps"]) == ("stretch.warmup", warmup)


@given(old, extra)
def test_piecewise_and_stable_phase(length: int, more: int) -> None:
    stairs = stretch(Piecewise((50, 80), (1.0, 0.1, 0.01)), length, length + more).schedule
    assert stairs.factor(50 + more, length + more) == 1.0
    assert stairs.factor(51 + more, length + more) == 0.1
    assert stairs.factor(81 + more, length + more) == 0.01
    wsd = WarmupStableDecay(10, 50)
    assert stretch(wsd, length, length + more).schedule == wsd


def test_cosine_and_constant_are_kept() -> None:
    assert stretch(Cosine(0.1), 100, 1000).schedule == Cosine(0.1)
    assert stretch(Constant(), 100, 1000).schedule == Constant()


def test_rsqrt_is_replaced_and_says_so() -> None:
    made = stretch(Rsqrt(100), 1600, 16_000)
    assert made.changed_family
    assert made.schedule == Linear(decay_steps=1500, end_factor=0.25)
    assert made.rule.code == "stretch.rsqrt_replaced" and made.rule.facts["end_factor"] == 0.25
    kept = stretch(Rsqrt(5000), 1600, 16_000)
    assert kept.schedule == Rsqrt(5000) and not kept.changed_family


@pytest.mark.parametrize(
    "schedule, share",
    [(Linear(), 0.0), (Cosine(), 0.205), (Constant(), 0.0), (WarmupStableDecay(10, 50), 0.0)],
)
def test_what_stretched_gives_wastes_little(schedule, share: float) -> None:
    longer = stretch(schedule, 1000, 9000).schedule
    assert share_at_tiny_rate(schedule, 1000, longer, 9000) == pytest.approx(share, abs=0.01)


def test_the_guard_speaks_where_the_rate_is_tiny() -> None:
    assert share_at_tiny_rate(Rsqrt(1), 1000, Rsqrt(1), 9000) == 1.0
    stairs = Piecewise((500,), (1.0, 0.01))
    assert share_at_tiny_rate(stairs, 1000, stairs, 9000) == pytest.approx(1.0, abs=0.01)
    assert share_at_tiny_rate(stairs, 1000, stairs, 1000) == 0.0


def test_shorter_training_is_refused() -> None:
    with pytest.raises(DesignError) as refused:
        stretch(Cosine(), 1000, 100)
    assert refused.value.code == "schedule.shorter"
