from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.stats.best_of_k import best_of, best_of_each, best_weights


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=7), st.data())
def test_it_is_the_mean_over_every_subset(losses: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(losses)))
    every = [min(subset) for subset in itertools.combinations(losses, k)]
    found = best_of(losses, k)
    assert found.mean == pytest.approx(np.mean(every), rel=1e-9, abs=1e-9)
    assert found.sd == pytest.approx(np.std(every), rel=1e-6, abs=1e-3)


@given(st.integers(1, 300), st.data())
def test_weights_are_the_binomial_ones_and_sum_to_one(count: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, count))
    weights = best_weights(count, k)
    assert weights.sum() == pytest.approx(1.0)
    first = [math.comb(count - i, k - 1) / math.comb(count, k) for i in range(1, min(count, 5) + 1)]
    np.testing.assert_allclose(weights[: len(first)], first, rtol=1e-9, atol=1e-15)


def test_the_best_of_all_is_the_best() -> None:
    losses = np.random.default_rng(0).normal(size=30)
    *_, last = best_of_each(losses)
    assert (last.k, last.mean, last.sd) == (30, losses.min(), 0.0)


def test_more_trials_are_never_worse() -> None:
    means = [one.mean for one in best_of_each(np.random.default_rng(1).normal(size=100))]
    assert means == sorted(means, reverse=True)


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="between 1 and 4"):
        best_weights(4, 5)
