"""How trials are shared out: nothing is promised twice, and the beginning is never empty."""

from __future__ import annotations

from hypothesis import given, strategies as st

from tunewright.campaigns.step import FEWEST, shares


@given(trials=st.integers(1, 5000), dimensions=st.integers(1, 12), baseline=st.booleans())
def test_what_is_kept_back_and_the_first_round_fit_into_the_trials(
    trials: int, dimensions: int, baseline: bool
) -> None:
    own = shares(trials, dimensions, baseline)
    assert own.first >= min(FEWEST, trials - own.kept_back)
    assert own.first <= own.explore
    assert own.first + own.kept_back <= trials
    assert own.explore + own.kept_back <= trials
    assert own.kept_back <= trials / 2, "most of it is for finding"
    assert baseline or not own.launch


def test_few_trials_are_all_for_finding() -> None:
    assert shares(10, 2, has_baseline=True).kept_back == 0
    assert shares(1, 3, has_baseline=False).first == 1


def test_more_trials_pay_for_more_certainty() -> None:
    kept = [shares(n, 3, has_baseline=True).kept_back for n in (10, 20, 40, 80, 200)]
    assert kept == sorted(kept)
    assert kept[0] < kept[-1]
