from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import FALLING, NOISES, known_curves, noise, results_of, rise, shape
from tests.checks.rates import at_most

from tunewright.actions import Advise, Declare, ShowTrial
from tunewright.checks.training_bug import rising, training_bug
from tunewright.stats.noise import noisy_curves


def test_the_reference_numbers_are_reproduced() -> None:
    curves = noisy_curves(known_curves())
    found = rising(curves)
    np.testing.assert_allclose(found.z, [4.2368135996, -16.9081515558, 1.5119394928], rtol=1e-7)
    share = [0.0478173895, -0.0532313832, 0.0019355098]
    np.testing.assert_allclose(found.rise / curves.total, share, rtol=1e-7)
    assert found.flagged.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("evaluations", "correlation", "mean", "worst"),
    [(20, 0.0, 0.0, 2.0), (40, 0.8, 0.37, 3.7), (100, 0.5, 0.01, 2.0), (100, 0.8, 0.23, 3.3)],
)
def test_falling_losses_are_left_alone(
    evaluations: int, correlation: float, mean: float, worst: float
) -> None:
    rng = np.random.default_rng(evaluations)
    flagged, cells = 0, 0
    for name in FALLING:
        for kind in NOISES:
            for sd in (0.002, 0.01, 0.03):
                values = shape(name, evaluations) + sd * noise(
                    rng, 40, evaluations, correlation, kind
                )
                found = int(rising(noisy_curves(values)).flagged.sum())
                assert at_most(found, 40, worst / 100), (name, kind, sd)
                flagged, cells = flagged + found, cells + 1
    assert at_most(flagged, 40 * cells, mean / 100)


def test_a_lasting_rise_is_told_from_one_that_recovers() -> None:
    rng = np.random.default_rng(1)
    t = np.arange(1, 101) / 100
    bump = 0.3 * np.exp(-(((t - 0.5) / 0.12) ** 2))
    for extra, lasting in ((0.3 * (t > 0.5), True), (bump, False)):
        found = rising(noisy_curves(shape("fast", 100) + extra + 0.005 * noise(rng, 50, 100, 0.5)))
        assert found.flagged.all()
        assert (found.lasting == lasting).all()
        assert (found.start < found.end).all()


def world(extra: np.ndarray | float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(2)
    return shape("fast", 60) + extra + 0.003 * noise(rng, 8, 60, 0.3)


VALID = shape("slow", 60) + 0.02 * np.arange(8)[:, None]
UP = 0.2 * np.maximum(0, np.arange(60) / 60 - 0.5)


def test_a_rising_training_loss_is_a_bug_to_look_for() -> None:
    (found,) = training_bug(results_of({"valid_error": VALID, "train_loss": world(UP)}))
    assert found.verdict == "warn"
    assert found.actions == (
        Advise("suspect_training_bug"),
        ShowTrial("depth", 0),
        Advise("then_suspect_instability"),
    )
    shown = found.evidence.shown
    assert shown == found.evidence.flagged[0]
    assert 100 <= shown.from_step <= 330 and shown.to_step >= 540


def test_a_falling_one_is_ok() -> None:
    (found,) = training_bug(results_of({"valid_error": VALID, "train_loss": world()}))
    assert found.verdict == "ok"


def test_a_schedule_that_raises_the_rate_makes_it_a_note() -> None:
    rates = np.tile(np.linspace(0.1, 1.0, 60), (8, 1))
    curves = {"valid_error": VALID, "train_loss": world(UP), "learning_rate": rates}
    (found,) = training_bug(results_of(curves))
    assert (found.verdict, found.evidence.schedule_rose) == ("note", True)
    assert found.actions == (Advise("lower_peak_learning_rate"),)


def test_a_loss_under_another_name_is_asked_for() -> None:
    results = results_of({"valid_error": VALID, "train/loss": world(UP)})
    (found,) = training_bug(results)
    assert found.verdict == "cannot_judge"
    assert found.actions == (Declare("train_loss", "train/loss"),)
    named = results_of(
        {"valid_error": VALID, "train/loss": world(UP)}, means={"train_loss": "train/loss"}
    )
    assert training_bug(named)[0].verdict == "warn"


def test_a_loss_logged_at_every_step_is_read_as_means() -> None:
    rng = np.random.default_rng(3)
    long = rise(6000, 0.3, 0.5) * np.exp(0.1 * noise(rng, 8, 6000, 0.0))
    (found,) = training_bug(results_of({"valid_error": VALID, "train_loss": long}))
    assert (found.verdict, found.evidence.points) == ("warn", 400)
