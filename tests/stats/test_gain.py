"""The posterior of a gain: against textbook formulas, for one decision and for many at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tunewright.errors import DesignError
from tunewright.stats.gain import NOTHING, History, gain, paired_gain

A = np.array([1.0, 1.2, 0.9, 1.1, 1.3])
B = np.array([1.4, 1.2, 1.5, 1.3, 1.6])


def test_equal_arms_without_history_are_the_pooled_t_test():
    p = stats.ttest_ind(B, A, alternative="greater").pvalue
    assert gain(B, A).probability() == pytest.approx(1 - p)
    low, high = gain(B, A).interval()
    interval = stats.ttest_ind(B, A).confidence_interval(0.90)
    assert (low, high) == pytest.approx((interval.low, interval.high))


def test_unequal_arms_without_history_are_welch():
    p = stats.ttest_ind(B, A[:3], equal_var=False, alternative="greater").pvalue
    assert gain(B, A[:3]).probability() == pytest.approx(1 - p)


def test_pairs_without_history_are_the_paired_t_test():
    p = stats.ttest_rel(B, A, alternative="greater").pvalue
    assert paired_gain(B - A).probability() == pytest.approx(1 - p)


def test_a_history_that_fits_is_pooled_by_its_weight():
    sd = float(np.sqrt((A.var(ddof=1) + B.var(ddof=1)) / 2))
    plain, known = gain(B, A), gain(B, A, History.from_repeats(sd, 8))
    assert not known.conflict
    assert known.sd == pytest.approx(sd)
    assert known.error == pytest.approx(plain.error)
    assert known.freedom == pytest.approx(8 + 7 * 8 / 15)
    assert known.probability() > plain.probability()


def test_only_a_history_that_is_clearly_wrong_is_dropped_and_sooner_when_it_is_too_small():
    sd = float(np.sqrt((A.var(ddof=1) + B.var(ddof=1)) / 2))
    dropped = {
        f: bool(gain(B, A, History.from_repeats(f * sd, 20)).conflict) for f in (0.5, 1, 1.9, 6)
    }
    assert dropped == {0.5: True, 1: False, 1.9: False, 6: True}
    assert gain(B, A, History.from_repeats(0.5 * sd, 20)).probability() == gain(B, A).probability()


def test_one_run_each_is_a_t_with_what_the_history_is_worth():
    known = History.from_repeats(0.1, 8)
    expected = stats.t.cdf((B[0] - A[0]) / (0.1 * np.sqrt(2)), 7 * 8 / 15)
    assert gain(B[:1], A[:1], known).probability() == pytest.approx(expected)


def test_no_history_is_worth_more_than_seven_degrees_of_freedom():
    assert History.from_repeats(1.0, 1e9).weight == pytest.approx(7.0)
    assert History.from_declaration(1.0).weight == pytest.approx(7 * 8 / 15)
    assert NOTHING.weight == 0
    for wrong in (0.0, -1.0, float("inf"), True):
        with pytest.raises(DesignError, match="standard deviation"):
            History.from_declaration(wrong)


def test_many_decisions_at_once_are_the_same_as_one_by_one():
    random = np.random.default_rng(1)
    b, a = random.normal(size=(2, 50, 5))
    sds = np.exp(random.normal(size=50))
    together = gain(b, a, History.from_repeats(sds, 4))
    for row in range(50):
        alone = gain(b[row], a[row], History.from_repeats(sds[row], 4))
        assert alone.probability(0.2) == pytest.approx(together.probability(0.2)[row])
        assert bool(alone.conflict) == together.conflict[row]


def test_without_any_noise_what_is_seen_is_certain():
    assert gain([2.0, 2.0, 2.0], [1.0, 1.0, 1.0]).probability() == 1.0
    assert gain([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]).probability() == 0.5
    assert gain([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]).probability() == 0.0
    assert gain([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]).sd == 0  # however 0.1 is rounded


def test_more_variance_widens_and_counts_by_how_well_it_is_known():
    plain = gain(B, A)
    sure, unsure = plain.widen(0.01, np.inf), plain.widen(0.01, 2.0)
    assert sure.error == pytest.approx(np.sqrt(plain.error**2 + 0.01))
    assert unsure.error == sure.error
    assert unsure.freedom < plain.freedom < sure.freedom
    assert unsure.interval()[0] < sure.interval()[0] < plain.interval()[0]


def test_the_freedom_of_a_sum_of_variances_is_that_of_welch_and_satterthwaite():
    plain = gain(B, A)
    own, added = float(plain.error**2), 3.0
    wide = plain.widen(added, 4.0)
    parts = own**2 / float(plain.freedom) + added**2 / 4.0
    assert wide.freedom == pytest.approx((own + added) ** 2 / parts)
