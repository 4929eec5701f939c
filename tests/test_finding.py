from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
from tests.checks.curve_worlds import noise, results_of, rise, shape

from tunewright.checks.instability import instability
from tunewright.checks.overfitting import overfitting
from tunewright.checks.periodicity import periodicity
from tunewright.checks.saturated import saturated
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import still_improving
from tunewright.checks.training_bug import training_bug
from tunewright.finding import LegacyFinding as Finding, said_once

QUESTIONS = (
    overfitting,
    still_improving,
    saturated,
    training_bug,
    periodicity,
    instability,
    step_variance,
)


def finding(about: str, says: str, verdict: str = "cannot_judge") -> Finding:
    return Finding("overfitting", about, verdict, says)


def test_what_keeps_every_study_from_being_judged_is_said_once() -> None:
    both = [finding("a", "no loss"), finding("b", "no loss")]
    (once,) = said_once(both, "depth")
    assert (once.about, once.says) == ("round depth", "no loss")
    different = [finding("a", "no loss"), finding("b", "too short")]
    assert said_once(different, "depth") == different
    fine = [finding("a", "fine", "ok"), finding("b", "fine", "ok")]
    assert said_once(fine, "depth") == fine
    assert said_once([], "depth") == []


def worlds() -> list[dict[str, np.ndarray]]:
    """One where all is quiet, and three in which every question finds something between them."""
    rng = np.random.default_rng(0)
    jitter = 0.005 * noise(rng, 12, 100, 0.3)
    wave = 0.02 * np.sin(np.arange(100) * 2 * np.pi / 5)
    spiking = (shape("slow", 100) + 0.1) * np.exp(4 * jitter)
    spiking[:, 60:63] *= 3
    rates, levels = np.ones((12, 100)), 0.02 * np.arange(12)[:, None]
    return [
        {
            "valid_error": shape("slow", 100) + jitter + levels,
            "train_loss": shape("linear", 100) + jitter,
        },
        {"valid_error": rise(100, 0.2, 0.4) + jitter, "train_loss": rise(100, 0.2, 0.4) + jitter},
        {"valid_error": shape("linear", 100) + jitter + wave, "train_loss": spiking},
        {"valid_error": shape("fast", 100) + 0.1 * jitter, "learning_rate": rates},
    ]


def test_every_answer_is_plain_data_with_a_section_and_a_name() -> None:
    verdicts: dict[str, set[str]] = {}
    for curves in worlds():
        configurations = [{"learning_rate": 0.1 * (k + 1)} for k in range(12)]
        results = results_of(
            curves, scientific={"layers": [1, 2]}, configurations=configurations, detect=0.01
        )
        for question in QUESTIONS:
            for one in question(results):
                assert one.check == question.__name__ and one.section
                assert one.about in ("layers=1", "layers=2", "round depth")
                assert json.loads(json.dumps(asdict(one), allow_nan=False))["says"] == one.says
                verdicts.setdefault(one.check, set()).add(one.verdict)
    assert all({"ok", "warn"} <= seen for seen in verdicts.values()), verdicts


def test_an_empty_round_is_answered_by_every_question() -> None:
    values = shape("slow", 60) * float("nan")
    for question in QUESTIONS:
        (found,) = question(results_of({"valid_error": [values] * 4}))
        assert (found.verdict, found.says) == ("cannot_judge", "no trial is completed yet")
