from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of, shape
from tests.checks.rates import agrees

from tunewright.actions import Advise, Repeat
from tunewright.checks.step_variance import selection_gain, step_variance
from tunewright.design.objective import minimize
from tunewright.stats.noise import NoisyCurves, noisy_curves

# E, correlation: share flagged when the true gain is 0.7, 1, 2, 3 times what matters
POWER = [
    (40, 0.0, (0.03, 0.20, 0.79, 0.98)),
    (40, 0.8, (0.04, 0.16, 0.62, 0.86)),
    (100, 0.0, (0.01, 0.23, 0.95, 1.0)),
    (100, 0.8, (0.01, 0.11, 0.79, 0.97)),
]


def true_gain(evaluations: int, correlation: float) -> float:
    """What the best of the last fifth is better than their level, for noise of sd 1."""
    rng = np.random.default_rng(0)
    late = max(8, round(0.2 * evaluations))
    return float(-noise(rng, 4000, evaluations, correlation)[:, -late:].min(axis=1).mean())


@pytest.mark.parametrize(("evaluations", "correlation", "published"), POWER)
def test_power_is_the_published_one(
    evaluations: int, correlation: float, published: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(evaluations)
    truth = 0.01 * true_gain(evaluations, correlation)
    curves = noisy_curves(
        shape("fast", evaluations) + 0.01 * noise(rng, 300, evaluations, correlation)
    )
    found = selection_gain(curves)
    assert 0.75 < np.median(found.gain) / truth < 1.3
    for times, rate in zip((0.7, 1.0, 2.0, 3.0), published, strict=True):
        flagged = int((found.at_least > truth / times).sum())
        assert agrees(flagged, 300, rate, slack=0.03), (times, flagged / 300, rate)


def test_noise_that_dies_out_with_the_learning_rate_counts_less() -> None:
    rng = np.random.default_rng(1)
    level = shape("fast", 100)
    steady = selection_gain(noisy_curves(level + 0.01 * noise(rng, 200, 100, 0.0)))
    dying = selection_gain(noisy_curves(level + 0.01 * noise(rng, 200, 100, 0.0, "to_zero")))
    assert np.median(dying.gain) < 0.4 * np.median(steady.gain)


def test_without_a_choice_there_is_only_the_noise_itself() -> None:
    rng = np.random.default_rng(2)
    curves = noisy_curves(shape("fast", 100) + 0.01 * noise(rng, 200, 100, 0.0))
    found = selection_gain(curves)
    assert (selection_gain(curves, chosen=False).gain == found.late_sd).all()
    assert (found.gain > found.late_sd).all()


def world(sd: float, gap: float = 0.02, evaluations: int = 100, count: int = 8) -> np.ndarray:
    rng = np.random.default_rng(3)
    levels = gap * np.arange(count)[:, None]
    return shape("fast", evaluations) + levels + sd * noise(rng, count, evaluations, 0.0)


def ask(values: np.ndarray, rates: np.ndarray | None = None, **more):
    curves = {"valid_error": values} | ({} if rates is None else {"learning_rate": rates})
    (found,) = step_variance(results_of(curves, **more))
    return found


def test_a_gain_larger_than_the_differences_is_a_warning() -> None:
    found = ask(world(0.03, gap=0.001))
    assert found.verdict == "warn"
    assert found.evidence.compared_with.source == "best_to_fifth"
    assert found.evidence.shown.gain_at_least > found.evidence.compared_with.size
    assert found.evidence.gain > found.evidence.compared_with.size
    assert found.actions[-1] == Repeat("depth", times=5)


def test_a_gain_smaller_than_the_differences_is_ok() -> None:
    assert ask(world(0.003)).verdict == "ok"


def test_a_known_trial_variance_can_excuse_it() -> None:
    assert ask(world(0.01, gap=0.001)).verdict == "warn"
    excused = ask(world(0.01, gap=0.001), repeats=[0.20, 0.30, 0.25, 0.35])
    assert (excused.verdict, excused.evidence.compared_with.source) == ("ok", "trial_sd")


def test_the_remedy_follows_the_learning_rate() -> None:
    values = world(0.03, gap=0.001)
    high, low = np.ones((8, 100)), np.tile(np.linspace(1, 0.001, 100), (8, 1))
    assert ask(values, high).actions[0] == Advise("decay_to_zero", {"rate_at_end": "high"})
    assert ask(values, low).actions[0] == Advise("larger_batch")
    assert ask(values).actions[0] == Advise("decay_to_zero", {"rate_at_end": "unknown"})


def test_few_evaluations_make_at_most_a_note() -> None:
    assert ask(world(0.05, gap=0.001, evaluations=24)).verdict == "note"


def test_nothing_to_compare_with_cannot_be_judged() -> None:
    found = ask(world(0.03, count=3))
    assert (found.verdict, found.evidence.compared_with) == ("cannot_judge", None)
    assert found.actions == (Repeat("depth", times=5),)
    assert ask(world(0.03, count=3), repeats=[0.2, 0.4, 0.3]).verdict == "ok"


def test_an_objective_at_the_end_is_not_chosen_among_many() -> None:
    values = world(0.03, gap=0.001)
    best = ask(values)
    last = ask(values, objective=minimize("valid_error", at="last"))
    assert (best.evidence.chosen, last.evidence.chosen) == (True, False)
    assert last.evidence.gain < 0.7 * best.evidence.gain


@pytest.mark.parametrize(("sd", "verdict", "jumping"), [(0.25, "note", 5), (0.03, "ok", 0)])
def test_a_training_loss_that_jumps_is_noted(sd: float, verdict: str, jumping: int) -> None:
    curves = {"valid_error": world(0.003), "train_loss": world(sd, gap=0.0) + 0.1}
    (found,) = step_variance(results_of(curves))
    assert (found.verdict, found.evidence.shown) == (verdict, None)
    seen = found.evidence.training
    assert (seen.metric, seen.jumping, seen.of) == ("train_loss", jumping, 5)
    assert seen.late_sd == pytest.approx(sd, rel=0.4)
    if verdict == "note":
        assert found.actions[0] == Advise("decay_to_zero", {"rate_at_end": "unknown"})
        assert Advise("larger_validation_set") not in found.actions  # it has nothing to do with it


def test_training_losses_of_healthy_runs_are_silent() -> None:
    notes = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        loss = shape("slow", 100) * np.exp(0.1 * noise(rng, 8, 100, 0.3))
        (found,) = step_variance(results_of({"valid_error": world(0.003), "train_loss": loss}))
        notes += found.verdict == "note"
    assert notes == 0


def test_the_gain_of_the_best_of_20_independent_evaluations_is_the_known_one() -> None:
    """The largest of 20 normals is expected 1.867 standard deviations above their mean."""
    flat = noise(np.random.default_rng(0), 1, 100, 0.0)
    found = selection_gain(NoisyCurves(flat, np.array([1.0]), np.array([0.0])))
    assert found.gain / found.late_sd == pytest.approx(1.867, abs=0.005)
    # 71 degrees of freedom: the 98 % point of chi-squared is 97.7
    assert found.at_least / found.gain == pytest.approx(np.sqrt(71 / 97.7), abs=0.005)
