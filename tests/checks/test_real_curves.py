"""What the checks say of recorded tuning studies; the figures are in docs/methods_curves.md."""

from __future__ import annotations

import numpy as np
import pytest
from tests.checks.real_curves import IMDB, read

from tunewright.actions import Declare
from tunewright.checks._better_half import better_halves
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import got_worse, overfitting
from tunewright.checks.periodicity import periodicity
from tunewright.checks.saturated import saturated
from tunewright.checks.spacing import tables
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import improving, still_improving
from tunewright.checks.training_bug import training_bug
from tunewright.finding import Finding
from tunewright.stats.noise import noisy_curves
from tunewright.store.results import Results


def share_flagged(results: Results, rule) -> tuple[int, int]:
    """How many curves of all trials that learned a rule for single curves flags."""
    flagged = judged = 0
    for study in better_halves(results):
        never = set(study.never_learned)
        learned = [t for t in study.ranked if t.number not in never]
        for table in tables(learned, results.objective.metric, -results.objective.sign):
            found = rule(noisy_curves(table.values)).flagged
            flagged, judged = flagged + int(found.sum()), judged + len(found)
    return flagged, judged


def by_setting(findings: list[Finding]) -> dict[str, str]:
    return {found.about: found.verdict for found in findings}


def test_an_lstm_that_overfits_is_found_and_named() -> None:
    results = read("taskset", IMDB + "patch128_LSTM128_avg_bs64")
    (found,) = overfitting(results)
    assert (found.verdict, found.evidence.kind) == ("warn", "overfitting")
    flagged, judged = share_flagged(results, got_worse)
    assert judged < 100  # of 907 completed trials: most never left chance level
    assert 0.15 < flagged / judged < 0.30


@pytest.mark.parametrize("task", ["patch32_GRU64_avg_bs128", "patch32_VRNN64_tanh_avg_bs128"])
def test_recurrent_nets_that_do_not_overfit_are_left_alone(task: str) -> None:
    results = read("taskset", IMDB + task)
    assert overfitting(results)[0].verdict == "ok"
    flagged, judged = share_flagged(results, got_worse)
    assert flagged / judged < 0.08
    assert by_setting(training_bug(results)) == by_setting(instability(results)) == {"all": "ok"}


def test_constant_rates_leave_late_variance() -> None:
    found = {f.about: f for f in step_variance(read("deepobs", "quadratic_deep"))}
    assert found["optimizer=Momentum"].verdict == "warn"
    assert found["optimizer=GradientDescent"].verdict == "ok"


def test_sgd_on_a_quadratic_is_still_improving_and_unstable_just_above() -> None:
    results = read("deepobs", "quadratic_deep")
    improving_found = by_setting(still_improving(results))
    assert improving_found["optimizer=GradientDescent"] == "warn"
    assert improving_found["optimizer=Momentum"] == "ok"
    assert by_setting(instability(results))["optimizer=GradientDescent"] == "note"


def test_a_variational_autoencoder_settles_early() -> None:
    found = {f.about: f for f in saturated(read("deepobs", "mnist_vae"))}
    assert found["optimizer=Momentum"].verdict == "warn"
    # its repeats differ by 13 because some seeds get stuck: that is what matters here
    assert found["optimizer=GradientDescent"].evidence.flagged[0].margin > 10


def test_a_published_set_has_a_period_of_two_epochs() -> None:
    results = read("baker2018", "deep_resnets_tinyimagenet")
    (found,) = periodicity(results)
    assert found.verdict == "warn"
    assert found.evidence.period_steps == pytest.approx(2.0, abs=0.1)
    # the whole set agrees: at a constant rate odd and even epochs differ in all its trials
    (judged,) = better_halves(results)
    (table,) = tables(judged.trials, "valid/accuracy", -1.0)
    moves = np.diff(table.values[:, 72:104], axis=1)
    moves = moves / np.median(np.abs(moves), axis=1, keepdims=True)
    odd, even = np.median(moves[:, 5::2], axis=0), np.median(moves[:, 6::2], axis=0)
    assert (odd > 0).all() and (even < odd.min()).all()


def test_without_a_training_loss_nothing_is_guessed() -> None:
    results = read("baker2018", "deep_resnets_tinyimagenet")
    for question in (training_bug, instability):
        (found,) = question(results)
        assert found.verdict == "cannot_judge"
        assert found.actions == (Declare("train_loss"),)
    assert overfitting(results)[0].verdict == "ok"


def test_one_cycle_schedules_improve_to_the_end_and_it_is_said() -> None:
    results = read("opda", "alexnet_imagenet")
    (found,) = still_improving(results)
    assert found.verdict == "warn" and "unknown" in found.evidence.schedules
    flagged, judged = share_flagged(results, improving)
    assert flagged / judged > 0.9
    flagged, judged = share_flagged(results, got_worse)
    assert flagged / judged < 0.02


@pytest.mark.parametrize("task", ["ogbg", "ogbg_model_size"])
def test_graph_nets_overfit_outside_the_best_trials(task: str) -> None:
    results = read("algoperf", task)
    (found,) = overfitting(results)
    assert (found.verdict, found.evidence.shown) == ("note", None)
    seen = found.evidence.elsewhere
    assert not seen.by_chance and len(seen.trials) / seen.judged > 0.2
    flagged, judged = share_flagged(results, got_worse)
    assert 0.15 < flagged / judged < 0.35
    assert step_variance(results)[0].verdict == "warn"
