"""The keep rule on simulated streams: it gains, and claims what it gains."""

from __future__ import annotations

import numpy as np
import pytest
from bench.referee import greedy, judge
from bench.referee_worlds import WORLDS

from tunewright.referee import _effects as effects, rule as rules
from tunewright.referee.rule import Rule

BY_NAME = {world.name: world for world in WORLDS}


@pytest.fixture(scope="module")
def streams() -> dict:
    return {
        name: (greedy(BY_NAME[name], 16, 5), judge(BY_NAME[name], 16, 5))
        for name in ("heavy tails", "null")
    }


def test_it_gains_more_than_greedy_under_heavy_tails(streams: dict) -> None:
    (slow, _), (own, claimed) = streams["heavy tails"]
    assert (own.true - slow.true).mean() > 3
    assert claimed.mean() == pytest.approx(own.true.mean(), rel=0.15)


def test_where_nothing_helps_it_claims_little(streams: dict) -> None:
    (_, bragged), (own, claimed) = streams["null"]
    assert bragged.mean() > 2
    assert abs(claimed.mean()) < 0.5
    assert own.kept.mean() < 0.08 * own.at.mean()


def test_a_clear_gain_is_kept_and_a_clear_loss_discarded() -> None:
    belief = rules.begin(np.array([[1.0, 1.1, 0.9, 1.05, 0.95]]))
    rule, own = Rule(), effects.prior()
    for values, kept in (([0.3, 0.32], True), ([1.6], False)):
        table = np.array([values])
        found = rules.judge(belief, own, table, rule)
        runs = np.array([len(values)])
        advice = rules.advise(belief, own, found, runs, np.zeros(1), rule)
        assert bool(advice.keep[0]) is kept
        assert bool(advice.discard[0]) is not kept


def test_complexity_must_be_worth_it() -> None:
    belief = rules.begin(np.array([[1.0, 1.1, 0.9, 1.05, 0.95]]))
    rule, own = Rule(most_runs=4), effects.prior()
    table = np.array([[0.9, 0.88, 0.87, 0.9]])
    found = rules.judge(belief, own, table, rule)
    cheap = rules.advise(belief, own, found, np.array([4]), np.zeros(1), rule)
    dear = rules.advise(belief, own, found, np.array([4]), np.array([3.0]), rule)
    assert cheap.keep[0] and dear.discard[0]


def test_a_known_baseline_needs_no_run_and_an_unknown_one_does() -> None:
    rule, own = Rule(), effects.prior()
    known = rules.begin(np.array([[1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02, 0.98, 1.0, 1.01]]))
    left = np.array([200.0])
    assert not rules.run_baseline(known, own, np.array([1]), left, rule)[0][0]
    assert rules.run_baseline(known, own, np.array([30]), left, rule)[0][0]  # against drift
    loose = rules.Belief(
        known.mean, known.variance * 30, known.total, known.covariance, known.squares, known.freedom
    )
    assert rules.run_baseline(loose, own, np.array([1]), left, rule)[0][0]


def test_a_gain_beyond_all_others_is_kept_and_measured_by_its_values() -> None:
    belief = rules.begin(np.array([[1.0, 1.1, 0.9, 1.05, 0.95]]))
    rule, own = Rule(), effects.prior()
    values = np.array([[-99.0, -99.1]])
    found = rules.judge(belief, own, values, rule)
    advice = rules.advise(belief, own, found, np.array([2]), np.zeros(1), rule)
    assert advice.keep[0]
    later = rules.after(belief, found, advice.keep, values)
    assert later.mean[0] == pytest.approx(-99.05)
    assert later.total[0] == pytest.approx(100.05)
