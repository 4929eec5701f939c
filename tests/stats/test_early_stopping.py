"""Early stopping: where the bound must stop a curve, and where it must leave it alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tunewright.stats.early_stopping import (
    KTH,
    LEAST,
    LOOKS,
    Array,
    bound,
    look_steps,
    values_at,
    weights,
)

TOTAL = 1000
STEPS = np.arange(10, TOTAL + 1, 10, dtype=np.int64)
AT = look_steps(TOTAL)


def parallel(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Curves that keep their order: the final level is visible from the first look on."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.1, 1.0, count)
    noise = rng.normal(0, 0.005, (count, len(STEPS)))
    curves = level[:, None] + 0.2 * np.exp(-STEPS / 100)[None, :] + noise
    at = np.array([values_at(AT, STEPS, curve) for curve in curves])
    return at, curves.min(axis=1)


def crossing(count: int, seed: int = 0) -> tuple[Array, Array]:
    """Curves whose order reverses when the rate decays: what leads at the looks ends last."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.1, 1.0, count)
    early = 2.0 - level
    share = np.clip((STEPS / TOTAL - 0.65) / 0.35, 0, 1)
    curves = early[:, None] * (1 - share) + level[:, None] * share
    return np.array([values_at(AT, STEPS, curve) for curve in curves]), curves.min(axis=1)


def test_a_curve_that_cannot_win_is_stopped_early() -> None:
    at, final = parallel(LEAST)
    rule = bound(at, final)
    assert rule is not None and rule.curves == LEAST
    hopeless = values_at(AT, STEPS, 0.95 + 0.2 * np.exp(-STEPS / 100))
    look = rule.look_that_stops(hopeless)
    assert look is not None and LOOKS[look] <= 0.2
    assert rule.best_possible(look, hopeless[look]) > rule.reference


def test_the_best_and_its_neighbours_are_not_stopped() -> None:
    at, final = parallel(2 * LEAST)
    rule = bound(at, final)
    assert rule is not None
    assert all(rule.look_that_stops(at[i]) is None for i in np.argsort(final)[:KTH])


def test_curves_that_cross_after_the_looks_stop_nothing() -> None:
    at, final = crossing(2 * LEAST)
    rule = bound(at, final)
    assert rule is not None
    assert all(rule.look_that_stops(row) is None for row in at)


@pytest.mark.parametrize("count", [0, 1, KTH, LEAST - 1])
def test_nothing_is_stopped_below_the_count(count: int) -> None:
    at, final = parallel(count) if count else (np.empty((0, len(AT))), np.empty(0))
    assert bound(at, final) is None
    enough = bound(*parallel(LEAST))
    assert enough is not None and enough.curves == LEAST


def test_a_curve_that_never_ended_does_not_count() -> None:
    at, final = parallel(LEAST)
    final[0] = np.nan
    assert bound(at, final) is None
    at, final = parallel(LEAST + 1)
    lost = final.copy()
    lost[0] = np.nan
    rule, alone = bound(at, lost), bound(at[1:], final[1:])
    assert rule is not None and alone is not None
    assert rule.curves == LEAST
    np.testing.assert_array_equal(rule.limits, alone.limits)


def test_a_look_that_some_curve_lacks_stops_nothing() -> None:
    at, final = parallel(LEAST)
    at[3, 0] = np.nan
    rule = bound(at, final)
    assert rule is not None and np.isinf(rule.limits[0]) and np.isfinite(rule.limits[1:]).all()


def test_points_that_are_not_finite_hide_what_follows() -> None:
    found = values_at([10, 20, 30], np.array([10, 20, 30]), np.array([0.5, np.nan, 0.1]))
    assert found[0] == 0.5 and np.isnan(found[1:]).all()


def test_the_last_value_counts_where_the_objective_is_the_last() -> None:
    steps, values = np.array([1, 2, 3]), np.array([0.1, 0.5, 0.3])
    assert values_at([2, 3], steps, values, best=False).tolist() == [0.5, 0.3]
    assert values_at([2, 3], steps, values).tolist() == [0.1, 0.1]


def test_curves_that_only_get_worse_never_allow_less_than_the_present_value() -> None:
    final = np.linspace(1, 2, LEAST)
    rule = bound(np.repeat(final[:, None] - 0.5, len(AT), axis=1), final)
    assert rule is not None and (rule.improvement == 0).all()


def test_a_spared_curve_that_ended_well_widens_the_bound() -> None:
    at, final = parallel(LEAST + 40)
    before = bound(at, final)
    at = np.vstack([at, np.full((1, len(AT)), 1.1)])
    final = np.append(final, 0.3)  # it was ruled out, was spared, and improved far more than others
    spared = np.zeros(len(final), np.bool_)
    spared[-1] = True
    weight = weights(at, final, spared, pruned=30)
    assert weight[-1] == 10 and (weight[:-1] == 1).all()
    after = bound(at, final, weight)
    assert before is not None and after is not None
    assert (after.improvement > 2 * before.improvement).all()
    unweighted = bound(at, final)
    assert unweighted is not None and (unweighted.improvement < after.improvement).all()


def test_spared_curves_never_represent_more_than_was_stopped() -> None:
    at, final = parallel(LEAST + 40)
    spared = np.ones(len(final), np.bool_)
    weight = weights(at, final, spared, pruned=5)
    assert weight.sum() <= len(final) + 5 + 1e-9 and weight.max() > 1
    assert (weights(at, final, spared, pruned=0) == 1).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-6, 1e6),
    shift=st.floats(-1e3, 1e3),
    count=st.integers(LEAST, 150),
)
def test_the_decision_does_not_depend_on_units_or_order(
    seed: int, scale: float, shift: float, count: int
) -> None:
    at, final = parallel(count, seed)
    order = np.random.default_rng(seed).permutation(count)
    one = bound(at, final)
    other = bound(scale * at[order] + shift, scale * final[order] + shift)
    assert one is not None and other is not None
    assert np.allclose(other.limits, scale * one.limits + shift, rtol=1e-6, atol=1e-6 * scale)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(LEAST, 150), worse=st.floats(0, 1))
def test_a_worse_curve_is_never_stopped_later(seed: int, count: int, worse: float) -> None:
    at, final = parallel(count, seed)
    rule = bound(at, final)
    assert rule is not None
    look, worse_look = rule.look_that_stops(at[0]), rule.look_that_stops(at[0] + worse)
    assert look is None or (worse_look is not None and worse_look <= look)


def test_at_most_the_stated_share_of_new_curves_beats_the_bound() -> None:
    """Exchangeable curves of heavy-tailed improvement: the share above the bound is near 2 %."""
    rng = np.random.default_rng(1)
    missed = []
    for _ in range(400):
        gain = rng.lognormal(0, 1, (LEAST + 1, 1)) * np.linspace(1, 0.2, len(AT))
        final = rng.normal(0, 1, LEAST + 1)
        at = final[:, None] + gain
        rule = bound(at[:-1], final[:-1])
        assert rule is not None
        missed.append(bool((gain[-1] > rule.improvement + 1e-12).any()))
    assert np.mean(missed) < 0.04


def test_looks_are_fixed_by_the_schedule() -> None:
    assert look_steps(1000) == (50, 100, 200, 350, 600)
    assert look_steps(1) == () and all(0 < step < 7 for step in look_steps(7))
