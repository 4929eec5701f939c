"""A trial as a reader and a notebook see it, and the bound of a pruned one."""

from __future__ import annotations

import html
from dataclasses import replace

import pytest
from tests.store.record_parts import a_trial

from tunewright.messages import Message

BOUND = Message("trial.pruned", {"metric": "valid_error", "bound": 0.2, "step": 10})


def test_one_line_has_number_status_value_and_twelve_settings() -> None:
    shown = repr(replace(a_trial(3, 0.25), value=0.25, best_step=2))
    assert "\n" not in shown
    for part in ("3", "completed", "0.25", "layers=2", "learning_rate=0.1"):
        assert part in shown
    many = repr(a_trial(0, 0.5, configuration={f"h{k:02}": k for k in range(13)}))
    assert "h11=11" in many and "h12" not in many and "..." in many


def test_a_joined_trial_shows_the_number_of_its_own_round() -> None:
    assert a_trial(7, 0.5, origin=("first", 2)).shown_number == "2 of first"
    assert a_trial(7, 0.5).shown_number == 7


def test_a_card_has_what_it_took() -> None:
    card = a_trial(
        3, 0.25, seconds=90.0, peak_memory_mb=2048.0, seed=17, attempts=2, command="train it"
    )._repr_html_()
    for part in ("2.05 GB", "17", "train it", "layers", "1m30"):
        assert html.escape(part) in card, part
    plain = a_trial(3, 0.25, attempts=1)._repr_html_()
    assert str(Message("card.label.attempts")) in card
    assert str(Message("card.label.attempts")) not in plain
    assert str(Message("card.label.memory")) not in plain


@pytest.mark.parametrize(
    ("status", "reason", "metric", "bound"),
    [
        ("pruned", BOUND, "valid_error", 0.2),
        ("pruned", BOUND, "accuracy", None),
        ("pruned", None, "valid_error", None),
        ("failed", BOUND, "valid_error", None),
        ("pruned", Message("trial.pruned", {"metric": "valid_error"}), "valid_error", None),
    ],
)
def test_only_a_pruned_trial_has_a_bound_of_its_metric(status, reason, metric, bound) -> None:
    assert a_trial(0, 0.5, status=status, reason=reason).bound_of(metric) == bound


def test_a_trial_has_ended_unless_it_waits_or_runs() -> None:
    ended = ("completed", "infeasible", "failed", "pruned", "unmeasured")
    for status in (*ended, "pending", "running"):
        assert a_trial(0, 0.5, status=status).ended == (status in ended)
