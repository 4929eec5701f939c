"""Logged learning rates that follow what was given, and those that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.applied_worlds import Manner, ignoring, results_of, round_of

from tunewright.checks._followed_rate import RateSigns, rate_signs


def signs(manner: Manner, **fixed: object) -> RateSigns:
    made = round_of(np.random.default_rng(4), None, searched=2)
    made = replace(made, fixed={**made.fixed, **fixed})  # type: ignore[dict-item]
    return rate_signs(results_of(made, manner))


def kinds(found: RateSigns) -> list[tuple[str, str]]:
    return [(doubt.kind, doubt.name) for doubt in found.doubts]


def test_a_rate_that_follows_is_confirmed() -> None:
    found = signs(Manner())
    assert (found.doubts, found.follows) == ((), frozenset({"learning_rate"}))


def test_one_rate_for_all_values_is_the_default() -> None:
    found = signs(Manner(fault=ignoring("learning_rate")))
    assert kinds(found) == [("rate", "learning_rate")]
    assert found.doubts[0].seen[0] == pytest.approx(0.03)


@pytest.mark.parametrize("logged", ["factor", "scaled"])
def test_a_factor_or_a_scaled_rate_is_no_sign(logged: str) -> None:
    assert signs(Manner(rate_as=logged)).doubts == ()


@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear"])
def test_a_schedule_that_is_applied_is_no_sign(schedule: str) -> None:
    assert signs(Manner(), schedule=schedule, warmup_steps=20).doubts == ()


def test_schedules_and_warm_ups_that_are_left_out() -> None:
    flat = signs(Manner(fault=ignoring("schedule")), schedule="cosine")
    assert kinds(flat) == [("no_decay", "schedule")]
    falls = signs(Manner(fault=lambda g: {**g, "schedule": "linear"}), schedule="constant")
    assert kinds(falls) == [("decays", "schedule")]
    warm = Manner(fault=ignoring("warmup_steps"))
    assert kinds(signs(warm, schedule="cosine", warmup_steps=24)) == [("no_warmup", "warmup_steps")]


def test_steps_of_another_unit_say_nothing_about_a_warm_up() -> None:
    warm = Manner(fault=lambda g: {**g, "warmup_steps": 0, "max_train_steps": 60})
    assert signs(warm, schedule="cosine", warmup_steps=24, max_train_steps=6000).doubts == ()
