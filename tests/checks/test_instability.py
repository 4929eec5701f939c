from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of, shape

from tunewright.actions import Advise, Declare, Probe
from tunewright.checks._better_half import better_halves
from tunewright.checks.instability import diverged, instability, just_above, remedies

LEVELS = 0.02 * np.arange(8)[:, None]
VALID = shape("slow", 100) + LEVELS


def losses(spike_at: int | None = None, rows: object = slice(None), by: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    values = (shape("slow", 100) + 0.1) * np.exp(0.02 * noise(rng, 8, 100, 0.0))
    if spike_at is not None:
        values[rows, spike_at : spike_at + 3] *= by
    return values


def ask(train: np.ndarray, **more):
    (found,) = instability(results_of({"valid_error": VALID, "train_loss": train}, **more))
    return found


def test_the_fixes_come_in_the_order_of_the_playbook() -> None:
    results = results_of({"valid_error": VALID})
    assert remedies(results) == (
        Probe("warmup", "depth"),
        Probe("clip", "depth"),
        Advise("try_another_optimizer"),
        Advise("normalise_residual_branches"),
        Advise("start_residual_branches_at_zero"),
        Advise("lower_learning_rate"),
        Probe("stability", "depth"),
    )


def test_a_spike_in_the_middle_of_training_is_found() -> None:
    found = ask(losses(spike_at=60))
    assert found.verdict == "warn"
    assert (found.evidence.because, found.evidence.flagged[0].trial) == ("best", 0)
    assert found.actions[0] == Probe("warmup", "depth")
    assert (found.evidence.early, found.evidence.mid) == (0, 5)
    (episode,) = found.evidence.flagged[0].episodes
    assert (episode.kind, episode.early) == ("spike", False)
    assert 590 <= episode.from_step <= 620 and 1.5 < episode.height < 2.5


def test_before_the_end_of_warm_up_it_is_early() -> None:
    assert ask(losses(spike_at=20)).evidence.early == 0
    configured = [{"warmup_steps": 300}] * 8
    assert ask(losses(spike_at=20), configurations=configured).evidence.early == 5
    rates = np.minimum(np.arange(1, 101) / 30, 1.0) * np.ones((8, 1))
    results = results_of(
        {"valid_error": VALID, "train_loss": losses(spike_at=20), "learning_rate": rates}
    )
    (found,) = instability(results)
    assert found.evidence.early == 5 and found.evidence.worst.early


def test_a_rise_that_recovers_is_mid_training_instability() -> None:
    t = np.arange(100) / 100
    found = ask(losses() + 0.3 * np.exp(-(((t - 0.6) / 0.15) ** 2)))
    assert found.verdict == "warn"
    assert (found.evidence.worst.kind, found.evidence.worst.early) == ("rise", False)


def test_stable_losses_are_ok() -> None:
    found = ask(losses())
    assert (found.verdict, found.actions) == ("ok", ())


def test_one_of_the_five_best_is_a_note() -> None:
    assert ask(losses(spike_at=60, rows=[3])).verdict == "note"


def test_instability_just_above_the_best_rate_is_noted() -> None:
    valid = np.concatenate([VALID, np.full((3, 100), 0.9) + 0.01 * np.arange(3)[:, None]])
    train = np.concatenate([losses(), losses(spike_at=50)[:3]])
    train[10, 70:] = np.nan
    valid[10, 70:] = np.nan
    rates = [0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.2, 0.4, 0.8]
    results = results_of(
        {"valid_error": valid, "train_loss": train},
        configurations=[{"lr": rate} for rate in rates],
        means={"learning_rate": "lr"},
    )
    (found,) = instability(results)
    assert found.verdict == "note"
    above = found.evidence.above_best_rate
    assert (above.rate, above.trials, above.unstable) == (0.1, 3, (10, 8, 9))
    assert [diverged(results, t) for t in results.trials[-3:]] == [False, False, True]
    stable = results_of(
        {"valid_error": VALID, "train_loss": losses()},
        configurations=[{"learning_rate": 0.1 * (k + 1)} for k in range(8)],
    )
    above = just_above(stable, better_halves(stable)[0])
    assert above is not None
    assert (above.trials, above.unstable, above.speaks) == (7, (), False)
    assert instability(stable)[0].verdict == "ok"


def test_rates_that_were_not_searched_are_passed_over() -> None:
    results = results_of({"valid_error": VALID, "train_loss": losses()})
    assert just_above(results, better_halves(results)[0]) is None


@pytest.mark.parametrize("points", [30, 5000])
def test_short_and_long_logs_are_read(points: int) -> None:
    rng = np.random.default_rng(1)
    t = np.arange(points) / points
    bump = 2.0 * ((t > 0.5) & (t < 0.8))
    train = (shape("slow", points) + 0.1 + bump) * np.exp(0.02 * noise(rng, 8, points, 0.0))
    found = ask(train)
    assert found.verdict == "warn"
    assert found.evidence.points == min(points, 1000)


def test_without_a_training_loss_it_names_the_entry() -> None:
    (found,) = instability(results_of({"valid_error": VALID}))
    assert found.evidence.why.code == "judge.metric_not_logged"
    assert found.actions == (Declare("train_loss"),)
