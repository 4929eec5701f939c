"""Worlds without anything to complain about, and the first proposal after a round in one."""

from __future__ import annotations

from typing import Any

from tunewright.advice.next_round import next_round
from tunewright.advice.proposal import Proposal
from tunewright.checks.checklist import check
from tunewright.store.results import Results
from tunewright.testing import Bowl, Surface, World

INSIDE = Bowl({"learning_rate": 0.5, "beta1": 0.5})


def clean(surface: Surface = INSIDE, **changes: Any) -> World:
    """A world without anything to complain about, up to its surface."""
    settings: dict[str, Any] = {
        "noise_sd": 0.005,
        "curve": "two_plateaus",
        "curve_sd": 0.002,
        "evaluations": 50,
        **changes,
    }
    return World(surface, **settings)


def first(results: Results) -> Proposal:
    return next_round(results, check(results))[0]
