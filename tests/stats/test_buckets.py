from __future__ import annotations

import numpy as np
from tests.checks.rates import at_most

from tunewright.stats.buckets import contrast


def studies(effect: float, count: int, seeds: int) -> int:
    spoke = 0
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        units, nuisance = random.random(count), random.random(count)
        losses = 10 * (nuisance - 0.5) ** 2 + effect * units + 0.2 * random.normal(size=count)
        found = contrast(units, losses)
        assert found is not None
        spoke += found.speaks
    return spoke


def test_buckets_hold_alike_many_trials_in_order() -> None:
    random = np.random.default_rng(0)
    found = contrast(random.random(50), random.normal(size=50))
    assert found is not None
    assert [bucket.trials for bucket in found.buckets] == [9, 9, 8, 8, 8, 8]
    edges = [edge for bucket in found.buckets for edge in (bucket.low, bucket.high)]
    assert edges == sorted(edges)
    assert all(bucket.low <= bucket.best_at <= bucket.high for bucket in found.buckets)
    assert all(bucket.band[0] < bucket.band[1] for bucket in found.buckets)


def test_a_range_that_does_not_matter_is_seldom_said_to() -> None:
    assert at_most(studies(0.0, 60, 30), 30, 0.05)


def test_a_strong_effect_is_seen() -> None:
    assert studies(5.0, 60, 20) >= 15


def test_few_trials_make_no_buckets_and_some_no_verdict() -> None:
    units = np.linspace(0, 1, 23)
    assert contrast(units, units) is None
    few = contrast(np.linspace(0, 1, 30), np.linspace(0, 1, 30))
    assert few is not None
    assert [bucket.trials for bucket in few.buckets] == [10, 10, 10]
    assert [bucket.best for bucket in few.buckets] == [bucket.low for bucket in few.buckets]
    assert few.p is None
    assert not few.speaks


def test_a_trend_weighs_a_line_and_a_curve_alike() -> None:
    """A valley in the middle is as clear as a slope of the same order."""
    units = np.linspace(0, 1, 80)
    slope, valley = contrast(units, units), contrast(units, (units - 0.5) ** 2)
    assert slope is not None and valley is not None
    assert slope.p is not None and valley.p is not None
    assert valley.p < 0.01 and slope.p < 0.01
