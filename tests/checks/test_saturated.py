from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import known_curves, noise, results_of, rise, shape
from tests.checks.rates import agrees, at_most

from tunewright.actions import Advise, NextRound
from tunewright.checks._curve_question import IMMATERIAL
from tunewright.checks.saturated import MEDIAN_LIMIT, saturated, saturation
from tunewright.messages import Message
from tunewright.stats.noise import noisy_curves


def test_the_reference_numbers_are_reproduced() -> None:
    found = saturation(noisy_curves(known_curves()))
    gain = [-0.0280442012, 0.0680363508, -0.0002370993]
    error = np.array([0.0032579839, 0.0009546349, 0.000314817])
    np.testing.assert_allclose(found.gain, gain, rtol=1e-6)
    np.testing.assert_allclose(found.z, (found.margin - np.abs(gain)) / error, rtol=1e-6)
    assert found.flagged.tolist() == [False, False, True]


# the published plateau is known in words only, hence the slack
@pytest.mark.parametrize(
    ("evaluations", "correlation", "published"),
    [(40, 0.0, 0.39), (100, 0.0, 1.0), (100, 0.8, 0.16)],
)
def test_power_is_the_published_one(evaluations: int, correlation: float, published: float) -> None:
    rng = np.random.default_rng(evaluations)
    values = shape("fast", evaluations) + 0.002 * noise(rng, 200, evaluations, correlation)
    flagged = int(saturation(noisy_curves(values)).flagged.sum())
    assert agrees(flagged, 200, published, slack=0.15)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize("evaluations", [40, 100])
def test_what_still_changes_is_never_called_settled(evaluations: int, correlation: float) -> None:
    rng = np.random.default_rng(8)
    worlds = [shape(n, evaluations) for n in ("power_half", "power_one", "linear", "slow")]
    worlds += [rise(evaluations, by, 0.4) for by in (0.045, 0.15)]
    for mean in worlds:
        for sd in (0.002, 0.01):
            values = mean + sd * noise(rng, 150, evaluations, correlation)
            assert at_most(int(saturation(noisy_curves(values)).flagged.sum()), 150, 0.005)


def test_a_curve_that_got_worse_and_stayed_there_has_not_settled() -> None:
    rng = np.random.default_rng(9)
    t = np.arange(1, 101) / 100
    collapsed = np.where(t < 0.2, shape("fast", 100), 0.5) + 0.001 * noise(rng, 20, 100, 0.0)
    found = saturation(noisy_curves(collapsed))
    assert (found.z > 2).all() and not found.flagged.any()


def test_the_margin_is_the_users_where_given() -> None:
    rng = np.random.default_rng(10)
    curves = noisy_curves(shape("fast", 60) + 0.01 * noise(rng, 100, 60, 0.0))
    assert saturation(curves).flagged.mean() < 0.05
    assert saturation(curves, margin=0.05).flagged.mean() > 0.95


def test_five_trials_together_are_rarely_wrong() -> None:
    rng = np.random.default_rng(11)
    for evaluations in (40, 100):
        for name in ("power_one", "slow"):
            values = shape(name, evaluations) + 0.01 * noise(rng, 1000, evaluations, 0.5)
            found = saturation(noisy_curves(values))
            z = np.where(found.matters, found.z, IMMATERIAL).reshape(200, 5)
            assert at_most(int((np.median(z, axis=1) > MEDIAN_LIMIT).sum()), 200, 0.02)


def world(tau: float, sd: float = 0.001, count: int = 8) -> np.ndarray:
    rng = np.random.default_rng(0)
    t = np.arange(1, 101) / 100
    levels = 0.02 * np.arange(count)[:, None]
    return 0.2 + 0.8 * np.exp(-t / tau) + levels + sd * noise(rng, count, 100, 0.3)


def test_a_plateau_is_found_and_a_shorter_training_proposed() -> None:
    (found,) = saturated(results_of({"valid_error": world(0.03)}))
    assert found.verdict == "warn"
    assert (found.evidence.rule, found.evidence.max_train_steps) == ("settled_by_half", 1000)
    proposed = found.evidence.proposed_max_train_steps
    # settled after about 5 tau = 150 steps and a moving mean, but best where noise was lowest
    assert max(found.evidence.best_steps) <= proposed < 1000
    shorten = Advise("train_shorter", {"max_train_steps": proposed})
    assert found.actions == (shorten, NextRound("depth"), Advise("declare_margin"))


def test_a_curve_that_falls_to_the_end_is_ok() -> None:
    (found,) = saturated(results_of({"valid_error": world(0.5)}))
    assert (found.verdict, found.evidence.rule) == ("ok", "")
    assert found.evidence.best_steps and found.evidence.shown is None


def test_detect_and_repeats_set_the_margin() -> None:
    noisy = world(0.1, sd=0.01)
    (without,) = saturated(results_of({"valid_error": noisy}))
    (detect,) = saturated(results_of({"valid_error": noisy}, detect=0.05))
    (repeated,) = saturated(results_of({"valid_error": noisy}, repeats=[0.2, 0.25, 0.3, 0.35]))
    assert [without.verdict, detect.verdict, repeated.verdict] == ["ok", "warn", "warn"]
    assert detect.evidence.shown.margin == 0.05
    assert repeated.evidence.shown.margin == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 20)
    assert detect.evidence.margin_declared
    assert Advise("declare_margin") not in detect.actions


def test_best_steps_early_in_training_are_noted() -> None:
    curves = rise(100, 0.3, 0.2) + 0.02 * np.arange(6)[:, None]
    (found,) = saturated(results_of({"valid_error": curves}))
    assert (found.verdict, found.evidence.rule) == ("note", "first_half")
    assert found.evidence.proposed_max_train_steps < 1000
    assert found.actions[-1] == Advise("regularise_if_overfitting")
    t = np.arange(1, 101) / 100
    at_once = 0.2 + np.abs(t - 0.05) + 0.02 * np.arange(6)[:, None]
    at_once[:, 0] = 2.0  # learned something before
    (found,) = saturated(results_of({"valid_error": at_once}))
    assert (found.verdict, found.evidence.rule) == ("warn", "first_tenth")


def test_twenty_evaluations_cannot_show_a_plateau() -> None:
    (found,) = saturated(results_of({"valid_error": world(0.03)[:, ::4]}))
    assert found.verdict == "cannot_judge"
    facts = {"metric": "valid_error", "points": 25, "needed": 40}
    assert found.evidence.why == Message("judge.few_points", facts)
    assert found.actions == (Advise("evaluate_more_often"),)


def test_a_flat_curve_is_not_said_to_need_its_second_half() -> None:
    (flat,) = saturated(results_of({"valid_error": world(0.1, sd=0.01)}))  # too noisy to tell
    assert (flat.verdict, flat.evidence.second_half_matters) == ("ok", False)
    (falling,) = saturated(results_of({"valid_error": world(0.5)}))
    assert (falling.verdict, falling.evidence.second_half_matters) == ("ok", True)
    assert flat.headline != falling.headline


def test_the_training_loss_is_asked_too() -> None:
    settles = {"valid_error": world(0.03), "train_loss": 2 * world(0.03)}
    (both,) = saturated(results_of(settles))
    assert (both.verdict, both.evidence.training.metric) == ("warn", "train_loss")
    assert both.evidence.training.settled == both.evidence.training.of == 5
    falls = {"valid_error": world(0.03), "train_loss": 2 * world(0.5)}
    (alone,) = saturated(results_of(falls))
    assert (alone.verdict, alone.evidence.training.settled) == ("warn", 0)
    (without,) = saturated(results_of({"valid_error": world(0.03)}))
    assert without.evidence.training is None
