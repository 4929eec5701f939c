"""Intervals hold the true value as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tunewright.errors import PipelineError
from tunewright.pipeline.confidence import bootstrap, mean_interval, wilson

TRIALS = 400


def holds(count: int, level: float = 0.95) -> bool:
    low, high = stats.binom.interval(0.9998, TRIALS, level)
    return low <= count <= high


@pytest.mark.parametrize("correct, total", [(0, 1), (1, 3), (9, 10), (50, 50), (730, 1000)])
def test_wilson_is_that_of_scipy(correct, total):
    found = wilson(correct, total, level=0.9)
    expected = stats.binomtest(correct, total).proportion_ci(0.9, method="wilson")
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


@pytest.mark.parametrize("correct, total", [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(correct, total):
    with pytest.raises(PipelineError, match="0 <= correct <= total"):
        wilson(correct, total)


def test_means_hold():
    generator = np.random.default_rng(0)
    inside = 0
    for _ in range(TRIALS):
        interval = mean_interval(generator.normal(3, 2, size=12))
        inside += interval.low <= 3 <= interval.high
    assert holds(inside)


def test_clusters_hold_where_independent_examples_would_not():
    """20 documents of 10 sentences that are nearly alike: there are 20 values, not 200."""
    generator = np.random.default_rng(1)
    clusters = np.repeat(np.arange(20), 10)
    by_cluster = naive = 0
    for _ in range(TRIALS):
        values = generator.normal(size=20)[clusters] + 0.3 * generator.normal(size=200)
        interval = mean_interval(values, clusters)
        by_cluster += interval.low <= 0 <= interval.high
        interval = mean_interval(values)
        naive += interval.low <= 0 <= interval.high
    assert holds(by_cluster) and naive < 0.7 * TRIALS


def test_one_example_per_cluster_is_no_clustering():
    values = np.random.default_rng(2).normal(size=30)
    plain, clustered = mean_interval(values), mean_interval(values, np.arange(30))
    assert (plain.low, plain.high) == pytest.approx((clustered.low, clustered.high))


def test_the_bootstrap_of_an_f1_holds():
    def f1(predicted, actual):
        hits = np.sum(predicted & actual)
        return 2 * hits / (np.sum(predicted) + np.sum(actual))

    generator = np.random.default_rng(3)
    # Of 1/2 positives, 80 % are found and 20 % of the others are taken for them: F1 is 0.8.
    inside, trials = 0, 120
    for seed in range(trials):
        actual = generator.random(200) < 0.5
        predicted = np.where(generator.random(200) < 0.8, actual, ~actual)
        interval = bootstrap(f1, predicted, actual, resamples=300, seed=seed)
        inside += interval.low <= 0.8 <= interval.high
    low, high = stats.binom.interval(
        0.9998, trials, 0.94
    )  # percentile intervals are a little short
    assert low <= inside <= high


def test_columns_stay_together():
    values = np.arange(50)
    interval = bootstrap(lambda a, b: float(np.abs(a - b).max()), values, values)
    assert (interval.low, interval.high) == (0.0, 0.0)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: mean_interval([1.0]), "at least 2"),
        (lambda: mean_interval([1.0, 2.0], clusters=[0, 0]), "1 independent"),
        (lambda: mean_interval([1.0, 2.0], clusters=[0]), "1 clusters for 2 values"),
        (lambda: bootstrap(np.mean, [1.0], [1.0, 2.0]), "one length"),
        (lambda: bootstrap(np.mean, []), "one length"),
        (lambda: wilson(1, 2, level=95), "as 0.95"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], level=95), "as 0.95"),
        (lambda: mean_interval([1.0, 2.0], level=95), "as 0.95"),
    ],
)
def test_what_has_no_interval_is_refused(call, says):
    with pytest.raises(PipelineError, match=says):
        call()
