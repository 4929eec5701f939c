"""What holds for the early-stopping rule whatever the curves are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests import strategies  # noqa: F401  (the profile of this house)

from tunewright.stats.early_stopping import (
    KTH,
    LEAST,
    LOOKS,
    bound,
    look_steps,
    values_at,
    weights,
)

seeds = st.integers(0, 2**32 - 1)


def finished(seed: int, curves: int = LEAST + 10) -> tuple[np.ndarray, np.ndarray]:
    """Curves at their looks, and where they ended: most improve, some get worse."""
    random = np.random.default_rng(seed)
    final = random.random(curves)
    gains = random.exponential(0.3, (curves, len(LOOKS))) - 0.05
    return final[:, None] + np.sort(gains, axis=1)[:, ::-1], final


@given(st.integers(1, 10**9))
def test_looks_are_in_order_and_inside_the_schedule(total: int) -> None:
    steps = look_steps(total)
    assert list(steps) == sorted(set(steps))
    assert all(0 < step < total for step in steps)
    assert len(steps) <= len(LOOKS)
    if total >= 40:
        assert steps == tuple(round(share * total) for share in LOOKS)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), seeds)
def test_the_best_so_far_is_that_of_the_points_up_to_the_look(
    values: list[float], seed: int
) -> None:
    random = np.random.default_rng(seed)
    steps = np.cumsum(random.integers(1, 5, len(values)))
    looks = sorted({int(one) for one in random.integers(0, steps[-1] + 5, 5)})
    found = values_at(looks, steps, np.array(values))
    last = values_at(looks, steps, np.array(values), best=False)
    for look, best, newest in zip(looks, found, last, strict=True):
        seen = [v for s, v in zip(steps, values, strict=True) if s <= look]
        np.testing.assert_equal((best, newest), (min(seen), seen[-1]) if seen else (np.nan,) * 2)


@given(seeds, st.floats(0.01, 100), st.floats(-10, 10))
def test_another_unit_of_the_metric_moves_the_limits_with_it(
    seed: int, times: float, more: float
) -> None:
    at, final = finished(seed)
    one, other = bound(at, final), bound(times * at + more, times * final + more)
    assert one is not None and other is not None
    assert other.limits == pytest.approx(times * one.limits + more, rel=1e-6, abs=1e-6)


@given(seeds)
def test_the_order_of_the_curves_does_not_matter(seed: int) -> None:
    at, final = finished(seed)
    order = np.random.default_rng(seed).permutation(len(final))
    one, other = bound(at, final), bound(at[order], final[order])
    assert one is not None and other is not None
    assert other.limits == pytest.approx(one.limits)


@given(seeds, st.integers(0, KTH - 1))
def test_the_best_finished_curves_are_stopped_at_no_look_but_in_two_of_a_hundred(
    seed: int, place: int
) -> None:
    at, final = finished(seed, 200)
    rule = bound(at, final)
    assert rule is not None
    assert rule.reference == pytest.approx(np.sort(final)[KTH - 1])
    # a curve among the best is only ruled out if it improved more than 98 % of the curves
    stopped = [rule.look_that_stops(at[row]) is not None for row in np.argsort(final)[:KTH]]
    improved = ((at - final[:, None]) > rule.improvement).any(axis=1)
    assert improved.mean() <= 0.02
    if stopped[place]:
        assert improved[np.argsort(final)[place]]


@given(st.integers(0, LEAST - 1))
def test_few_curves_stop_nothing(count: int) -> None:
    at, final = finished(1, count)
    assert bound(at, final) is None
    assert weights(at, final, np.ones(count, dtype=bool), 5).tolist() == [1.0] * count


@given(seeds, st.integers(1, 500))
def test_spared_curves_represent_no_more_trials_than_were_stopped(seed: int, pruned: int) -> None:
    at, final = finished(seed, 150)
    spared = np.random.default_rng(seed).random(150) < 0.3
    weight = weights(at, final, spared, pruned)
    assert weight.min() == 1.0 and weight.max() <= 10.0
    assert (weight - 1).sum() <= pruned + 1e-9
    assert (weight[~spared] == 1.0).all()
