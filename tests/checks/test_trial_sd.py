from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.curve_worlds import results_of

from tunewright.checks.trial_sd import earlier_repeats, trial_sd

CURVES = {"valid_error": np.ones((4, 30))}


def test_it_is_the_spread_of_the_repeats_alone() -> None:
    results = results_of(CURVES, repeats=[1.0, 2.0, 3.0])
    assert trial_sd(results, results.studies[0]) == pytest.approx(1.0)


def test_without_three_repeats_it_is_unknown() -> None:
    for repeats in ([], [1.0, 2.0]):
        results = results_of(CURVES, repeats=repeats)
        assert trial_sd(results, results.studies[0]) is None


def test_a_studys_own_repeats_come_first_and_others_are_pooled() -> None:
    results = results_of(CURVES, repeats=[1, 2, 3, 10, 20, 30], scientific={"layers": [1, 2, 3]})
    moved = [
        replace(own, study=k // 3, parent=k // 3) for k, own in enumerate(results.recorded_repeats)
    ]
    results = replace(results, recorded_repeats=tuple(moved))
    first, second, third = results.studies
    assert trial_sd(results, first) == pytest.approx(1.0)
    assert trial_sd(results, second) == pytest.approx(10.0)
    assert trial_sd(results, third) == pytest.approx(np.sqrt((2 + 200) / 4))


def test_repeats_of_an_earlier_round_of_the_same_pipeline_count() -> None:
    old = results_of(CURVES, repeats=[1.0, 2.0, 3.0])
    now = replace(results_of(CURVES), earlier=(old,))
    assert trial_sd(now, now.studies[0]) == pytest.approx(1.0)
    assert earlier_repeats(now) == ("depth", [[1.0, 2.0, 3.0]])
    steps = [{"max_train_steps": 7}] * 4
    other = replace(results_of(CURVES, configurations=steps), earlier=(old,))
    assert trial_sd(other, other.studies[0]) is None
