from __future__ import annotations

import numpy as np
import pytest
from tests.checks.space_worlds import halton

from tunewright.stats.additive import (
    basis,
    choose_axes,
    levels,
    line_and_curve,
    normal_scores,
    p_beyond,
    with_ones,
    without,
)


def test_normal_scores_keep_only_the_order() -> None:
    scores = normal_scores(np.array([1.0, 1e9, -5.0]))
    assert scores[2] < scores[0] < scores[1]
    assert scores[0] == pytest.approx(0.0, abs=1e-12)


def test_terms_of_an_axis() -> None:
    assert line_and_curve(np.array([0.0, 0.5, 1.0])).shape == (3, 2)
    assert line_and_curve(np.array([0.0, 1.0, 1.0])).shape == (3, 1)
    assert levels(np.array([0.0, 0.5, 1.0, 0.5])).tolist() == [[0, 0], [1, 0], [0, 1], [1, 0]]


def test_the_ruling_axis_is_chosen_and_seldom_one_without_effect() -> None:
    first = wrong = 0
    for seed in range(60):
        units = halton(seed, 24, 6)
        scores = normal_scores(
            (units[:, 0] - 0.4) ** 2 + 0.02 * np.random.default_rng(seed).normal(size=24)
        )
        found = choose_axes([line_and_curve(own) for own in units.T], scores)
        first += found[:1] == [0]
        wrong += len(found) > 1
    assert first >= 58
    assert wrong <= 8
    noise = [
        choose_axes(
            [line_and_curve(own) for own in halton(s, 24, 6).T],
            np.random.default_rng(s).normal(size=24),
        )
        for s in range(100)
    ]
    assert sum(bool(found) for found in noise) <= 12  # 5 %


def test_without_takes_the_effect_off_and_keeps_the_own_one() -> None:
    units = halton(3, 40, 2)
    scores = 3 * units[:, 0] + units[:, 1]
    left = without([line_and_curve(units[:, 0])], line_and_curve(units[:, 1]), scores)
    assert np.corrcoef(left, units[:, 1])[0, 1] == pytest.approx(1.0)
    assert abs(np.corrcoef(left, units[:, 0])[0, 1]) < 0.4


def test_an_axis_that_adds_nothing_or_leaves_no_freedom_has_no_evidence() -> None:
    own = line_and_curve(np.linspace(0, 1, 4))
    scores = np.array([0.0, 1.0, 2.0, 3.0])
    assert p_beyond(own, basis(with_ones([own], 4)), scores) == 1.0
    assert p_beyond(levels(np.arange(4.0)), basis(with_ones([], 4)), scores) == 1.0
    assert len(choose_axes([levels(np.arange(4.0))], scores)) == 0


@pytest.mark.parametrize(
    ("trials", "levels_of", "found"), [(12, 8, [0]), (12, 9, []), (8, 4, [0]), (8, 5, [])]
)
def test_an_axis_with_as_many_columns_as_trials_allow_is_tested(
    trials: int, levels_of: int, found: list[int]
) -> None:
    """What an axis may take is what is left when the trials pay for the rest."""
    places = np.arange(trials) % (levels_of + 1)
    block = np.eye(levels_of + 1)[places][:, 1:]
    scores = normal_scores(places.astype(float))
    assert choose_axes([block], scores) == found
