from __future__ import annotations

import numpy as np
import pytest
from tests.present.figures.known_rounds import facts_of, one_study

from tunewright.errors import NotFound
from tunewright.present.figures.curves import gradient_norm, gradient_norm_data


def test_the_percentile_is_the_best_trials_own() -> None:
    norms = list(np.arange(1.0, 101.0))
    made = one_study(
        [
            {"valid_error": [0.5], "gnorm": [5.0] * 100},
            {"valid_error": [0.2], "gnorm": norms},
        ],
        means={"gradient_norm": "gnorm"},
    )
    data = gradient_norm_data(made)
    assert [t.trial for t in data.trials] == [1, 0]
    assert data.clip_norm == pytest.approx(np.percentile(norms, 90))
    said = facts_of(gradient_norm(made), "figure.gradient_norm")
    assert said["clip_norm"] == pytest.approx(90.1)


def test_a_norm_that_is_not_finite_ends_its_curve() -> None:
    made = one_study([{"valid_error": [0.5]}])
    from dataclasses import replace

    from tunewright.store.curves import Batch, Curves, pack

    points = {"valid_error": ([10], [0.5]), "gradient_norm": ([1, 2, 3], [1.0, np.inf, 2.0])}
    trial = replace(made.recorded[0], curves=Curves([Batch(1, 0, pack(points))]))
    (found,) = gradient_norm_data(replace(made, recorded=(trial,))).trials
    assert found.ended_at == 2
    assert found.curve.values.tolist() == [1.0]


def test_without_a_gradient_norm_it_says_how_to_log_one() -> None:
    with pytest.raises(NotFound, match=r"logged 'gradient_norm'.*means="):
        gradient_norm(one_study([{"valid_error": [0.5]}]))
