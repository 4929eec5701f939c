"""The figure of the train-steps probe says what the sweep found."""

from __future__ import annotations

import pytest

from tunewright.present.figures.probe_plots import steps_to_fit
from tunewright.probes.rate_sweep import SweptRate
from tunewright.probes.train_steps import TrainSteps

RATES = (
    SweptRate(0.01, "does not fit", value=0.2),
    SweptRate(0.1, "fits", 340.0, 338.0, 5.0, 0.0),
    SweptRate(0.3162, "fits", 610.0, 608.0, 5.0, 0.0),
    SweptRate(1.0, "infeasible"),
)
FOUND = TrainSteps(
    verdict="fits",
    message="",
    settings={},
    max_train_steps=340,
    learning_rate=0.1,
    criterion="train_error at most 0.001",
    rates=RATES,
)


def test_each_learning_rate_stands_where_it_belongs():
    data = steps_to_fit(FOUND).data
    assert data.fits == ((0.1, 340.0), (0.3162, 610.0))
    assert data.too_slow == (0.01,) and data.infeasible == (1.0,)
    assert "the fastest is 0.1 with 340" in steps_to_fit(FOUND).says


@pytest.mark.parametrize("rates", [RATES, RATES[:1], RATES[3:], ()])
def test_it_is_drawn_whatever_was_found(rates, tmp_path):
    figure = steps_to_fit(TrainSteps(verdict="unknown", message="", settings={}, rates=rates))
    assert figure.save(tmp_path / "sweep.svg").stat().st_size > 1000
    assert ("none fits" in figure.says) == (rates != RATES)
