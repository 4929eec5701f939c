from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from tests.checks.curve_worlds import NOISES, known_curves, noise, results_of, rise, shape
from tests.checks.rates import agrees, at_most

from tunewright.actions import Advise, Extend, NextRound, ProbeLonger
from tunewright.checks._curve_question import IMMATERIAL
from tunewright.checks.still_improving import MEDIAN_LIMIT, improving, still_improving
from tunewright.stats.noise import noisy_curves

# E, correlation, sd: share flagged on a power law and on a line (the published rates)
POWER = [
    (20, 0.0, 0.002, (0.90, 1.0)),
    (20, 0.0, 0.01, (0.38, 0.81)),
    (20, 0.8, 0.03, (0.10, 0.55)),
    (40, 0.0, 0.002, (0.98, 1.0)),
    (40, 0.8, 0.01, (0.21, 1.0)),
    (40, 0.0, 0.03, (0.00, 0.80)),
    (100, 0.0, 0.01, (0.54, 1.0)),
    (100, 0.8, 0.03, (0.01, 0.72)),
]


def test_the_reference_numbers_are_reproduced() -> None:
    found = improving(noisy_curves(known_curves()))
    np.testing.assert_allclose(found.z, [-5.0372705286, 12.2862477122, -1.5893970617], rtol=1e-7)
    np.testing.assert_allclose(found.gain, [-0.0331431592, 0.0237411516, -0.0010125023], rtol=1e-7)
    assert found.flagged.tolist() == [False, True, False]


@pytest.mark.parametrize(("evaluations", "correlation", "sd", "published"), POWER)
def test_power_is_the_published_one(
    evaluations: int, correlation: float, sd: float, published: Sequence[float]
) -> None:
    rng = np.random.default_rng(evaluations)
    for name, rate in zip(("power_half", "linear"), published, strict=True):
        values = shape(name, evaluations) + sd * noise(rng, 200, evaluations, correlation)
        flagged = int(improving(noisy_curves(values)).flagged.sum())
        assert agrees(flagged, 200, rate, slack=0.04), (name, flagged / 200, rate)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("evaluations", [20, 40, 100])
def test_plateaus_are_left_alone(evaluations: int, correlation: float) -> None:
    rng = np.random.default_rng(5)
    flagged = cells = 0
    for kind in NOISES:
        for sd in (0.002, 0.01, 0.03):
            values = shape("fast", evaluations) + sd * noise(
                rng, 100, evaluations, correlation, kind
            )
            found = int(improving(noisy_curves(values)).flagged.sum())
            assert at_most(found, 100, 0.04), (kind, sd)
            flagged, cells = flagged + found, cells + 1
    assert at_most(flagged, 100 * cells, 0.007)


@pytest.mark.parametrize(("evaluations", "published"), [(20, 0.79), (40, 0.54), (100, 0.94)])
def test_five_trials_together_see_more(evaluations: int, published: float) -> None:
    rng = np.random.default_rng(6)
    values = shape("power_half", evaluations) + 0.01 * noise(rng, 1000, evaluations, 0.0)
    found = improving(noisy_curves(values))
    z = np.where(found.matters, found.z, IMMATERIAL).reshape(200, 5)
    together = int((np.median(z, axis=1) > MEDIAN_LIMIT).sum())
    assert agrees(together, 200, published, slack=0.05)
    assert together / 200 > found.flagged.mean() + 0.2


def test_a_curve_that_recovers_from_a_spike_is_not_improving() -> None:
    rng = np.random.default_rng(7)
    t = np.arange(1, 61) / 60
    bump = 0.3 * np.exp(-np.maximum(t - 0.7, 0) / 0.2) * (t > 0.7)
    values = shape("fast", 60) + bump + 0.003 * noise(rng, 50, 60, 0.0)
    found = improving(noisy_curves(values))
    assert (found.z > 5).all() and not found.flagged.any()


def world(name: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return shape(name, 60) + 0.01 * np.arange(10)[:, None] + 0.003 * noise(rng, 10, 60, 0.3)


def rates(last: float) -> np.ndarray:
    return np.tile(np.linspace(1.0, last, 60), (10, 1))


def ask(curves: Mapping[str, Any], **more: Any):
    (found,) = still_improving(results_of(curves, **more))
    return found


def test_a_steady_learning_rate_makes_it_a_warning() -> None:
    found = ask({"valid_error": world("linear"), "learning_rate": rates(1.0)})
    assert found.verdict == "warn"
    assert found.actions == (NextRound("depth"), Advise("decay_earlier"))
    assert found.evidence.in_last_quarter == 5
    assert set(found.evidence.schedules) == {"steady"}


def test_the_longer_training_is_in_the_steps_of_the_program() -> None:
    found = ask(
        {"valid_error": world("linear"), "learning_rate": rates(1.0)},
        configurations=[{"max_train_steps": 600}] * 10,
    )
    assert found.actions[0] == Extend("depth", 1200)


def test_a_learning_rate_that_goes_to_zero_explains_it() -> None:
    found = ask({"valid_error": world("linear"), "learning_rate": rates(0.01)})
    assert found.verdict == "cannot_judge"
    assert set(found.evidence.schedules) == {"decaying"}


def test_a_step_of_the_learning_rate_in_the_last_quarter_explains_it() -> None:
    stepped = rates(1.0)
    stepped[:, 50:] = 0.3
    found = ask({"valid_error": world("linear"), "learning_rate": stepped})
    assert found.verdict == "cannot_judge"


def test_a_schedule_that_was_configured_explains_it() -> None:
    for schedule, verdict in (("cosine", "cannot_judge"), ("constant", "warn")):
        found = ask({"valid_error": world("linear")}, configurations=[{"schedule": schedule}] * 10)
        assert found.verdict == verdict
        assert "unknown" not in found.evidence.schedules


def test_without_a_learning_rate_it_warns_and_says_so() -> None:
    found = ask({"valid_error": world("linear")})
    assert found.verdict == "warn" and "unknown" in found.evidence.schedules
    assert found.actions[0] == Advise("log_learning_rate")


@pytest.mark.parametrize("values", [world("fast"), rise(60, 0.1, 0.5) + np.zeros((10, 1))])
def test_plateaus_and_rises_are_ok(values: np.ndarray) -> None:
    assert ask({"valid_error": values}).verdict == "ok"


def test_weaker_trials_alone_make_a_note_and_bad_ones_nothing() -> None:
    bad = np.concatenate([world("fast"), world("linear") + 0.3])
    found = ask({"valid_error": bad})
    assert (found.verdict, found.evidence.judged) == ("ok", 10)
    mixed = np.concatenate([world("fast")[:5], world("linear")[:5] + 0.1, world("linear") + 2])
    found = ask({"valid_error": mixed})
    assert (found.verdict, found.evidence.because) == ("note", "many")


@pytest.mark.parametrize("curves", [{"learning_rate": rates(0.01)}, {}])
def test_a_flat_end_under_a_rate_near_zero_says_nothing_about_longer_training(
    curves: dict[str, Any],
) -> None:
    steps: dict[str, Any] = {"max_train_steps": 600}
    if not curves:
        steps["schedule"] = "cosine"
    found = ask({"valid_error": world("fast"), **curves}, configurations=[steps] * 10)
    assert found.verdict == "cannot_judge"
    assert set(found.evidence.schedules) == {"decaying"} and found.evidence.shown is None
    assert found.actions == (
        ProbeLonger("depth"),
        Extend("depth", 1200),
        Advise("generous_length"),
    )
    assert found.words.evidence


@pytest.mark.parametrize("key", ["decay_lr", "schedule"])
@pytest.mark.parametrize(("value", "verdict"), [("True", "cannot_judge"), ("False", "ok")])
def test_a_declared_schedule_that_is_on_leaves_a_flat_end_open(
    value: str, verdict: str, key: str
) -> None:
    found = ask(
        {"valid_error": world("fast")},
        configurations=[{"decay_lr": value}] * 10,
        means={"schedule": "decay_lr"},
        off={key: "False"},  # a name, or a meaning
    )
    assert found.verdict == verdict
    if verdict == "cannot_judge":
        generous = Advise("generous_length")
        assert found.actions == (Advise("log_learning_rate"), NextRound("depth"), generous)
    steady = ask({"valid_error": world("fast"), "learning_rate": rates(1.0)})
    assert steady.verdict == "ok"


def test_a_training_set_that_is_not_fit_makes_regularisers_unlikely_to_help() -> None:
    falling = world("linear")
    for end, fits in ((1.6, False), (0.1, True)):
        loss = np.linspace(2.3, end, falling.shape[1]) + 0 * falling
        found = ask({"valid_error": falling, "train_loss": loss, "learning_rate": rates(1.0)})
        assert found.verdict == "warn"
        assert (Advise("fit_before_regularising") in found.actions) is not fits
        if not fits:
            seen = found.evidence.not_fit
            assert (seen.metric, seen.source) == ("train_loss", "start")
            assert seen.reference == pytest.approx(2.3)
            assert seen.fitted == pytest.approx(1 - 1.6 / 2.3, abs=0.03)
        else:
            assert found.evidence.not_fit is None
    declared = ask(
        {"valid_error": falling, "train_loss": np.linspace(9.0, 1.6, 60) + 0 * falling},
        means={"chance": 2.3},
    )
    assert declared.evidence.not_fit.source == "chance"


def test_best_steps_that_are_all_late_are_counted() -> None:
    decaying = ask({"valid_error": world("linear"), "learning_rate": rates(0.01)})
    assert decaying.evidence.consistently_late
    assert decaying.actions[-1] == Advise("generous_length")
    assert not ask({"valid_error": world("fast")}).evidence.consistently_late
