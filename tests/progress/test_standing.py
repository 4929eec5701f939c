"""A running trial as its store knows it: the step, the time, the rate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.recorded import results

from tunewright.progress.tally import standing
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.read_round import Attempt

BEGAN = datetime(2026, 1, 2, tzinfo=UTC)
NOW = BEGAN + timedelta(seconds=50)


def running(points: list[int], start_step: int = 0):
    own = results()
    curves = Curves([Batch(1, 0, pack({"valid_error": (points, [0.5] * len(points))}))])
    trial = replace(own.trial(2), status="running", value=None, curves=curves)
    return own, trial, [Attempt(1, "a_host pid 7", start_step, BEGAN, None, "", None, 0.0)]


def test_step_time_and_rate_of_a_running_trial() -> None:
    own, trial, attempts = running([10, 40])
    found = standing(own, trial, attempts, NOW)
    assert found is not None
    assert (found.step, found.seconds, found.rate) == (40, 50.0, 0.8)
    total = trial.configuration["max_train_steps"]
    assert found.total == total
    assert found.left_s == (total - 40) / 0.8


def test_the_rate_counts_this_attempt_alone() -> None:
    found = standing(*running([60], start_step=50), NOW)
    assert found is not None and found.rate == 10 / 50


def test_before_the_first_step_only_the_time_is_known() -> None:
    found = standing(*running([]), NOW)
    assert found is not None
    assert (found.step, found.rate, found.left_s, found.seconds) == (None, None, None, 50.0)


def test_a_trial_that_does_not_run_stands_nowhere() -> None:
    own, _, attempts = running([10])
    assert standing(own, own.trial(2), attempts, NOW) is None
