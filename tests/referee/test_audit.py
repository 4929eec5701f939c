"""The audit of kept changes on simulated losses: how often a change that helps is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tunewright.referee._audit import audit_changes, looks

MARGIN = 0.25


@dataclass
class Kept:
    """A kept change as the audit reads it."""

    commit: str = "new"
    summary: str = "a change"


def removed(loss: float, times: int, most: int) -> float:
    """The share of audits that remove a change without which so much is lost, in sd of a run."""
    random = np.random.default_rng(int(1000 * loss) + most)

    def run(commit: str) -> float:
        return float(random.normal()) + (loss if commit == "without" else 0.0)

    kept: Any = [Kept()]
    verdicts = [
        audit_changes(kept, "new", MARGIN, run, lambda *_: "without", most).removals[0].verdict
        for _ in range(times)
    ]
    return verdicts.count("remove") / times


@pytest.mark.parametrize("most", [10, 40])
def test_a_change_worth_the_margin_is_removed_in_at_most_one_of_twenty(most: int) -> None:
    assert removed(MARGIN, 400, most) <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5
    assert removed(1.0, 200, most) <= 0.02


def test_more_runs_remove_more_of_what_does_nothing() -> None:
    few, many = removed(0.0, 200, 10), removed(0.0, 100, 100)
    assert 0.02 < few < 0.25 and many > few + 0.1


def test_what_does_not_train_without_a_change_keeps_it() -> None:
    kept: Any = [Kept()]
    found = audit_changes(kept, "new", MARGIN, lambda commit: None, lambda *_: "without")
    assert found.removals[0].verdict == "keep" and found.commit == "new"
    found = audit_changes(kept, "new", MARGIN, lambda commit: 1.0, lambda *_: None)
    assert found.removals[0].verdict == "conflict"


def test_looks_grow_and_end_where_they_should() -> None:
    for most in (4, 5, 10, 33, 100):
        own = looks(most)
        assert own[0] == 4 and own[-1] == most and list(own) == sorted(set(own))
