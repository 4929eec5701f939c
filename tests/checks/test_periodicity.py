from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import FALLING, NOISES, known_curves, noise, results_of, shape
from tests.checks.rates import agrees, at_most

from tunewright.actions import Advise, Declare
from tunewright.checks.periodicity import (
    fisher_chance,
    periodicity,
    periods,
    periods_of_epoch,
)

# E, correlation: share flagged for a sine of 1.5 sd with period 4 and 7.3 (the published rates)
POWER = [
    (40, 0.0, (0.17, 0.01)),
    (40, 0.8, (0.98, 0.96)),
    (100, 0.0, (0.41, 0.75)),
    (100, 0.8, (1.0, 1.0)),
]


def test_the_reference_numbers_are_reproduced() -> None:
    values = known_curves()
    values[0] += 0.02 * np.sin(2 * np.pi * np.arange(1, 61) / 4)
    found = periods(values)
    assert found.length.tolist() == [4.0, 11.0, 11.0]
    assert -np.log10(found.chance[0]) == pytest.approx(12.2033588835)
    assert found.flagged.tolist() == [True, False, False]


def sine(
    rng: np.random.Generator, evaluations: int, correlation: float, period: float
) -> np.ndarray:
    phase = rng.uniform(0, 2 * np.pi, (200, 1))
    wave = 1.5 * np.sin(2 * np.pi * np.arange(evaluations) / period + phase)
    return shape("fast", evaluations) + 0.01 * (noise(rng, 200, evaluations, correlation) + wave)


@pytest.mark.parametrize(("evaluations", "correlation", "published"), POWER)
def test_power_is_the_published_one(
    evaluations: int, correlation: float, published: tuple[float, float]
) -> None:
    rng = np.random.default_rng(evaluations)
    for period, rate in zip((4.0, 7.3), published, strict=True):
        flagged = int(periods(sine(rng, evaluations, correlation, period)).flagged.sum())
        assert agrees(flagged, 200, rate, slack=0.04), (period, flagged / 200, rate)


def test_knowing_the_epoch_finds_weaker_cycles() -> None:
    values = sine(np.random.default_rng(1), 100, 0.0, 4.0)
    anywhere, known = periods(values), periods_of_epoch(values, 4.0)
    assert known is not None
    assert known.flagged.mean() > anywhere.flagged.mean() + 0.2
    assert periods_of_epoch(values, 90.0) is None  # too slow to be told from a trend


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("evaluations", [40, 100])
def test_curves_without_a_period_are_left_alone(evaluations: int, correlation: float) -> None:
    rng = np.random.default_rng(2)
    anywhere = of_epoch = curves = 0
    for name in FALLING:
        for kind in NOISES:
            values = shape(name, evaluations) + 0.01 * noise(
                rng, 50, evaluations, correlation, kind
            )
            anywhere += int(periods(values).flagged.sum())
            known = periods_of_epoch(values, 5.0)
            of_epoch += 0 if known is None else int(known.flagged.sum())
            curves += 50
    assert at_most(anywhere, curves, 0.002)
    assert at_most(of_epoch, curves, 0.003)


def test_the_chance_is_that_of_white_noise() -> None:
    rng = np.random.default_rng(3)
    power = rng.exponential(size=(4000, 30))
    share = power.max(axis=1) / power.sum(axis=1)
    assert at_most(int((fisher_chance(share, 30) < 0.01).sum()), 4000, 0.01)
    assert (fisher_chance(share, 30) < 0.01).sum() > 15


def test_a_curve_that_stands_still_has_no_period() -> None:
    values = np.full((3, 60), 0.5)
    values[1, 30:] = 0.4
    values[2, ::20] = 0.6
    assert not periods(values).flagged.any()


def world(period: float | None) -> np.ndarray:
    rng = np.random.default_rng(4)
    wave = 0.0 if period is None else 0.01 * np.sin(2 * np.pi * np.arange(100) / period)
    levels = 0.02 * np.arange(8)[:, None]
    return shape("fast", 100) + wave + levels + 0.004 * noise(rng, 8, 100, 0.0)


def test_a_period_is_found_with_its_length_in_steps() -> None:
    (found,) = periodicity(results_of({"valid_error": world(5.0)}))
    assert found.verdict == "warn"
    assert found.evidence.flagged[0].period_steps == pytest.approx(50, abs=1)
    assert found.evidence.period_steps == pytest.approx(50, abs=1)
    assert found.actions[0] == Advise("shuffle_every_epoch")
    assert found.actions[-1] == Declare("steps_per_epoch")


def test_it_is_compared_with_an_epoch() -> None:
    (found,) = periodicity(results_of({"valid_error": world(5.0)}, means={"steps_per_epoch": 50}))
    assert found.verdict == "warn" and found.evidence.of_epoch
    assert Declare("steps_per_epoch") not in found.actions
    (found,) = periodicity(results_of({"valid_error": world(5.0)}, means={"steps_per_epoch": 83}))
    assert found.verdict == "warn" and not found.evidence.of_epoch


def test_curves_without_one_are_ok_and_short_ones_cannot_be_judged() -> None:
    assert periodicity(results_of({"valid_error": world(None)}))[0].verdict == "ok"
    (found,) = periodicity(results_of({"valid_error": world(5.0)[:, :30]}))
    assert found.evidence.why.code == "judge.few_points"
    assert found.evidence.why.facts["needed"] == 40


def test_only_the_longest_piece_between_rate_steps_is_read() -> None:
    rates = np.ones((8, 100))
    rates[:, 50:] = 0.1
    curves = {"valid_error": world(5.0), "learning_rate": rates}
    (found,) = periodicity(results_of(curves))
    assert found.evidence.points == 50
    rates[:, 30:] = 0.3
    rates[:, 60:] = 0.1
    rates[:, 95:] = 0.01
    (found,) = periodicity(results_of(curves))
    assert found.verdict == "cannot_judge"


def test_a_period_that_is_not_the_epoch_is_shown_as_it_was_found() -> None:
    values = results_of({"valid_error": world(5.0)}, means={"steps_per_epoch": 83})
    (found,) = periodicity(values)
    assert not found.evidence.of_epoch
    assert found.evidence.period_steps == pytest.approx(50, abs=1)
