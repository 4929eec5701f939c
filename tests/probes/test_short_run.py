"""Short runs: what is unstable, when, whether it recovers, and how seldom noise is called so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.probes.short_curves import noisy, results_of

from tunewright.design.objective import minimize
from tunewright.errors import WorkloadError
from tunewright.messages import Message
from tunewright.probes.short_run import check_finished, early_until, short_runs, why_not_judged
from tunewright.store.results import Results
from tunewright.testing import curves

EARLY = 50.0


def at_most(flagged: int, of: int, rate: float) -> bool:
    """Not surely above a rate: within 3.3 standard errors of it."""
    return flagged <= of * rate + 3.3 * math.sqrt(of * rate * (1 - rate)) + 1


@pytest.mark.parametrize("shape", ["slow", "fast", "power_half", "linear"])
@pytest.mark.parametrize("sd", [0.03, 0.1, 0.2])
def test_noise_alone_is_no_instability(shape: str, sd: float) -> None:
    """METHODS: false alarms of the spike rule 0 to 1 % (500 points); with all rules at most 2 %."""
    rng = np.random.default_rng([500, int(1000 * sd)])
    flagged = 0
    for _ in range(30):  # of eight runs each, as a probe has
        runs = short_runs(results_of(list(noisy(rng, 8, 500, sd, shape))), EARLY)
        assert all(run.stable is not None for run in runs)
        flagged += sum(not run.stable for run in runs)
    assert at_most(flagged, 240, 0.02)


@pytest.mark.parametrize("sd", [0.05, 0.2])
def test_a_run_that_learns_nothing_has_not_left_its_start(sd: float) -> None:
    rng = np.random.default_rng(5)
    flat = [np.exp(sd * rng.standard_normal((8, 300))) for _ in range(30)]
    flagged = sum(not r.stable for part in flat for r in short_runs(results_of(list(part)), EARLY))
    assert at_most(flagged, 240, 0.03)


@pytest.mark.parametrize(("sd", "power"), [(0.03, 0.98), (0.1, 0.95)])
def test_an_early_rise_that_recovers_is_found(sd: float, power: float) -> None:
    """Twice the loss of the start over twenty steps from step 3 on: gone at an evaluation at 50."""
    rng = np.random.default_rng(7)
    bump = np.ones(500)
    bump[3:23] = 2.0
    found = []
    for _ in range(15):
        losses = noisy(rng, 8, 500, sd)
        losses[4:] *= bump
        found += short_runs(results_of(list(losses)), EARLY)[4:]
    unstable = [run for run in found if not run.stable]
    assert len(unstable) >= power * len(found)
    assert all(run.early and run.recovered for run in unstable)
    assert np.mean([run.at_step <= 30 for run in unstable if run.at_step]) > 0.95


@pytest.mark.parametrize(("sd", "power"), [(0.03, 1.0), (0.1, 0.6)])
def test_a_spike_in_the_middle_is_found_and_named(sd: float, power: float) -> None:
    """METHODS: power for a doubling .55 to .97 at 10 % noise and 300 points, 1 at 3 %."""
    rng = np.random.default_rng(9)
    found = []
    for _ in range(15):
        losses = noisy(rng, 8, 500, sd)
        losses[4:, 250:255] *= 2.5
        found += short_runs(results_of(list(losses)), EARLY)[4:]
    unstable = [run for run in found if not run.stable]
    assert len(unstable) >= power * len(found)
    right = [run.what == "spiked" and not run.early and run.recovered for run in unstable]
    assert np.mean(right) > 0.9


def test_divergence_is_told_with_its_step_and_the_first_wrong_says_when() -> None:
    calm = curves.shape("slow", 200)
    gone = np.concatenate([calm[:5], calm[0] * 3.0 ** np.arange(60), [math.inf]])
    stable, diverged = short_runs(results_of([calm, gone]), EARLY)
    assert stable.stable and stable.message.code == "probe.run.stable"
    assert (diverged.what, diverged.at_step, diverged.early) == ("diverged", 66, True)
    assert not diverged.recovered
    assert diverged.message.text == "diverged at step 66 (early in training)"


def test_under_a_warm_up_only_what_blows_up_counts() -> None:
    t = np.arange(300) / 300
    rising = curves.shape("slow", 300) + 0.3 * np.exp(-(((t - 0.6) / 0.15) ** 2))
    rng = np.random.default_rng(1)
    losses = rising * np.exp(0.02 * rng.standard_normal((2, 300)))
    assert [run.what for run in short_runs(results_of(list(losses)), 15.0)] == ["rose"] * 2
    assert all(run.stable for run in short_runs(results_of(list(losses)), 15.0, rises=False))


def test_early_is_counted_on_the_whole_training() -> None:
    assert early_until(20_000, warmup_steps=0) == 1000
    assert early_until(1000, warmup_steps=200) == 200


def test_what_a_judgement_lacks_is_said() -> None:
    few = results_of([np.linspace(2, 1, 30)])
    assert short_runs(few, EARLY)[0].stable is None
    (said,) = why_not_judged(few, short_runs(few, EARLY))
    assert said.code == "probe.too_few_points"
    assert (said.facts["points"], said.facts["needed"]) == (30, 60)
    other = Results.from_parts(few.round, minimize("valid_loss"), few.recorded)
    object.__setattr__(other, "meaning", type(other.meaning)({"train_loss": "loss/train"}))
    (said,) = why_not_judged(other, short_runs(other, EARLY))
    assert said.code == "probe.loss_never_logged"
    assert said.facts == {"metric": "loss/train", "logged": ["train_loss", "valid_loss"]}
    assert 'means={"train_loss": ...}' in said.text


def test_what_has_not_ended_or_failed_is_not_judged() -> None:
    from dataclasses import replace

    own = results_of([curves.shape("slow", 100)])
    pending = replace(own, recorded=(replace(own.recorded[0], status="pending"),))
    with pytest.raises(KeyboardInterrupt, match="call again to resume"):
        check_finished(pending)
    broken = replace(
        own.recorded[0], status="failed", reason=Message("trial.failed", {"text": "no data"})
    )
    with pytest.raises(WorkloadError, match="trial 0 of made_up failed: no data"):
        short_runs(replace(own, recorded=(broken,)), EARLY)
