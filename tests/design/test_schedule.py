"""Schedules are pure functions of the step: they rise, fall, and never go negative."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import assume, given, strategies as st
from tests.problems import states

from tunewright.design.schedule import (
    Constant,
    Cosine,
    Linear,
    Piecewise,
    Rsqrt,
    Schedule,
    Warmup,
    WarmupStableDecay,
    from_json,
)
from tunewright.errors import DesignError

steps = st.integers(1, 10_000)
shares = st.floats(0, 1)


factors = st.lists(shares, min_size=1, max_size=4).map(lambda f: tuple(sorted(f, reverse=True)))
stairs = factors.flatmap(
    lambda f: st.lists(
        st.integers(1, 9999), min_size=len(f) - 1, max_size=len(f) - 1, unique=True
    ).map(lambda b: Piecewise(tuple(sorted(b)), f))
)
decays: st.SearchStrategy[Schedule] = st.one_of(
    st.just(Constant()),
    st.builds(Linear, st.none() | steps, shares),
    st.builds(Cosine, shares),
    st.builds(Rsqrt, steps),
    stairs,
)
stable = st.builds(
    WarmupStableDecay,
    st.integers(0, 500),
    steps,
    st.sampled_from(["linear", "cosine", "sqrt"]),
    shares,
)
warmups = st.builds(Warmup, st.integers(0, 500), decays, st.sampled_from(["within", "prepend"]))
schedules = st.one_of(decays, stable, warmups)


def fits(schedule: Schedule, length: int) -> bool:
    try:
        schedule.total_steps(length)
    except DesignError:
        return False
    return True


def some(total: int) -> list[int]:
    """Steps of a training, its first and last among them."""
    return sorted({1, total, *range(1, total + 1, max(total // 50, 1))})


@given(schedules, steps)
def test_factors_lie_between_zero_and_one(schedule: Schedule, length: int) -> None:
    assume(fits(schedule, length))
    for step in some(schedule.total_steps(length)):
        assert 0.0 <= schedule.factor(step, length) <= 1.0


@given(decays, steps)
def test_decays_never_rise(schedule: Schedule, length: int) -> None:
    assume(fits(schedule, length))
    values = [schedule.factor(step, length) for step in some(length)]
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(values))


@given(st.one_of(warmups, stable), steps)
def test_warmup_rises_in_a_line_and_reaches_one_at_its_last_step(
    schedule: Warmup | WarmupStableDecay, length: int
) -> None:
    assume(fits(schedule, length) and schedule.warmup_steps > 0)
    w = schedule.warmup_steps
    assert schedule.factor(w, length) == 1.0
    assert all(schedule.factor(step, length) == step / w for step in some(w))


@given(st.integers(1, 500), decays, steps)
def test_prepended_warmup_lengthens_and_within_does_not(
    warmup_steps: int, schedule: Schedule, length: int
) -> None:
    assume(fits(schedule, length))
    before = Warmup(warmup_steps, schedule, "prepend")
    assert before.total_steps(length) == length + warmup_steps
    for step in some(length):
        assert before.factor(step + warmup_steps, length) == schedule.factor(step, length)
    within = Warmup(warmup_steps, schedule, "within")
    assume(fits(within, length))
    assert within.total_steps(length) == length
    for step in some(length - warmup_steps):
        expected = schedule.factor(step, length - warmup_steps)
        assert within.factor(step + warmup_steps, length) == expected


@given(schedules)
def test_json_gives_it_back(schedule: Schedule) -> None:
    assert from_json(json.loads(json.dumps(schedule.as_json()))) == schedule


@given(schedules, steps, st.floats(1e-8, 10))
def test_the_rate_is_the_base_rate_times_the_factor(
    schedule: Schedule, length: int, base: float
) -> None:
    assume(fits(schedule, length))
    assert schedule.learning_rate(1, base, length) == base * schedule.factor(1, length)


def test_the_decay_approaches_its_end_just_after_the_last_step() -> None:
    for schedule in (Linear(end_factor=0.2), Cosine(end_factor=0.2), Linear(30, 0.2)):
        assert schedule.factor(101, 100) == pytest.approx(0.2)
        assert schedule.factor(100, 100) > 0.2
    assert [WarmupStableDecay(0, 4, "sqrt").factor(s, 4) for s in (1, 2, 4)] == [
        1.0,
        0.5,
        1 - math.sqrt(0.75),
    ]


@pytest.mark.parametrize(
    "build, words",
    [
        (
            lambda: Linear(decay_steps=0),
            (
                "schedule.bad_count",
                {"kind": "Linear", "name": "decay_steps", "value": 0, "least": 1},
            ),
        ),
        (
            lambda: Linear(decay_steps=10.0),
            (
                "schedule.bad_count",
                {"kind": "Linear", "name": "decay_steps", "value": 10.0, "least": 1},
            ),
        ),
        (
            lambda: Linear(decay_steps=True),
            (
                "schedule.bad_count",
                {"kind": "Linear", "name": "decay_steps", "value": True, "least": 1},
            ),
        ),
        (
            lambda: Linear(end_factor=1.5),
            ("schedule.above_one", {"kind": "Linear", "name": "end_factor", "value": 1.5}),
        ),
        (
            lambda: Cosine(end_factor=math.nan),
            ("schedule.not_positive", {"kind": "Cosine", "name": "end_factor"}),
        ),
        (
            lambda: Cosine(end_factor="0"),
            ("schedule.not_number", {"kind": "Cosine", "name": "end_factor", "value": "0"}),
        ),
        (
            lambda: Rsqrt(0),
            ("schedule.bad_count", {"kind": "Rsqrt", "name": "timescale", "value": 0, "least": 1}),
        ),
        (
            lambda: Piecewise((5,), (1.0,)),
            ("schedule.pieces", {"boundaries": 1, "pieces": 2, "factors": 1}),
        ),
        (
            lambda: Piecewise((5, 5), (1.0, 0.5, 0.1)),
            ("schedule.boundaries_not_growing", {"boundaries": [5, 5]}),
        ),
        (
            lambda: Piecewise((5,), (1.0, -0.1)),
            ("schedule.not_positive", {"kind": "Piecewise", "name": "a factor", "value": -0.1}),
        ),
        (
            lambda: WarmupStableDecay(1, 1, shape="liner"),
            (
                "schedule.unknown_shape",
                {"shape": "liner", "near": "linear", "known": ["linear", "cosine", "sqrt"]},
            ),
        ),
        (
            lambda: Warmup(-1),
            (
                "schedule.bad_count",
                {"kind": "Warmup", "name": "warmup_steps", "value": -1, "least": 0},
            ),
        ),
        (lambda: Warmup(1, mode="before"), ("schedule.bad_warmup_mode", {"mode": "before"})),
        (lambda: Warmup(1, Warmup(1)), ("schedule.warmup_twice", {"schedule": "Warmup"})),
        (
            lambda: Linear(decay_steps=11).total_steps(10),
            ("schedule.decay_too_long", {"decay_steps": 11, "max_train_steps": 10}),
        ),
        (
            lambda: Warmup(10).total_steps(10),
            ("schedule.warmup_too_long", {"warmup_steps": 10, "max_train_steps": 10}),
        ),
        (
            lambda: WarmupStableDecay(6, 5).total_steps(10),
            (
                "schedule.phases_too_long",
                {"warmup_steps": 6, "decay_steps": 5, "needed": 11, "max_train_steps": 10},
            ),
        ),
        (
            lambda: Piecewise((10,), (1.0, 0.1)).total_steps(10),
            ("schedule.boundary_never_passed", {"boundary": 10, "max_train_steps": 10}),
        ),
        (lambda: Constant().total_steps(0), ("schedule.bad_total", {"max_train_steps": 0})),
        (lambda: Constant().factor(0, 10), ("schedule.bad_step", {"step": 0})),
        (
            lambda: from_json("cosin"),
            ("schedule.no_such_name", {"name": "cosin", "near": "cosine"}),
        ),
        (
            lambda: from_json({"schedule": "linear", "end": 1}),
            (
                "schedule.bad_fields",
                {"name": "linear", "reason": "got an unexpected keyword argument 'end'"},
            ),
        ),
        (lambda: from_json("rsqt"), ("schedule.no_such_name", {"name": "rsqt", "near": "rsqrt"})),
        (
            lambda: from_json("warmup"),
            (
                "schedule.bad_fields",
                {
                    "name": "warmup",
                    "reason": "missing 1 required positional argument: 'warmup_steps'",
                },
            ),
        ),
    ],
)
def test_refused_with_the_remedy(build, words) -> None:
    with pytest.raises(DesignError) as refused:
        build()
    assert states(refused.value, *words)
