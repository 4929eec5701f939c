"""Gradient norms: which are stable, the first threshold, and how often it clips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.probes.clip import (
    count_clipped,
    first_threshold,
    logged_after_clipping,
    stable_norms,
)
from tunewright.store.curves import Curve

STEPS = np.arange(1, 1001)


def curve(values: np.ndarray) -> Curve:
    return Curve(STEPS[: len(values)], np.asarray(values, dtype=float))


def test_the_threshold_is_the_90th_percentile_of_stable_steps() -> None:
    norms = np.random.default_rng(0).lognormal(0, 0.3, 1000)
    norms[400:450] = 100.0  # a spike
    found = first_threshold(stable_norms(curve(norms), [(401, 450)], 0, early=False))
    calm = np.delete(norms, np.r_[0:10, 400:450])
    assert found == pytest.approx(np.percentile(calm, 90), rel=0.005)
    assert first_threshold(calm[:29]) is None


def test_the_first_steps_count_only_where_instability_is_early() -> None:
    norms = np.ones(1000)
    norms[:200] = 50.0
    late = stable_norms(curve(norms), [], warmup_steps=200, early=False)
    early = stable_norms(curve(norms), [], warmup_steps=200, early=True)
    assert late.max() == 1 and len(late) == 800
    assert early.max() == 50 and len(early) == 1000


def test_a_tenth_with_most_updates_clipped_is_too_often() -> None:
    norms = np.ones(1000)
    norms[700:760] = 3.0  # six tenths of a tenth
    found = count_clipped(curve(norms), 2.0, warmup_steps=0)
    assert found.share == pytest.approx(0.06) and found.worst == pytest.approx(0.6)
    assert found.too_often and (found.from_step, found.to_step) == (701, 800)
    assert not count_clipped(curve(norms[:750]), 2.9999, warmup_steps=700).share > 0.07


def test_the_first_tenth_and_warm_up_do_not_count_against_it() -> None:
    norms = np.ones(1000)
    norms[:100] = 9.0
    assert not count_clipped(curve(norms), 2.0, warmup_steps=0).too_often
    norms[:300] = 9.0
    assert count_clipped(curve(norms), 2.0, warmup_steps=0).too_often
    assert not count_clipped(curve(norms), 2.0, warmup_steps=300).too_often


@given(st.floats(0.05, 5.0), st.integers(0, 2**16))
def test_a_lower_threshold_clips_more(threshold: float, seed: int) -> None:
    norms = curve(np.random.default_rng(seed).lognormal(0, 0.5, 200))
    high, low = count_clipped(norms, threshold, 0), count_clipped(norms, threshold / 2, 0)
    assert 0 <= high.share <= low.share <= 1 and high.worst <= low.worst


def test_norms_that_were_logged_after_clipping_are_known_as_such() -> None:
    norms = np.random.default_rng(1).lognormal(0, 0.5, 500)
    assert not logged_after_clipping(curve(norms), 1.0)
    assert logged_after_clipping(curve(np.minimum(norms, 1.0)), 1.0)
    assert not logged_after_clipping(curve(np.minimum(norms, 0.9)), 1.0)


def test_a_norm_that_is_not_finite_is_clipped_and_never_a_threshold() -> None:
    norms = np.ones(300)
    norms[200] = np.inf
    assert np.isfinite(stable_norms(curve(norms), [], 0, early=False)).all()
    assert count_clipped(curve(norms), 2.0, 0).share == pytest.approx(1 / 300)
