"""A rule of the house as a test: names state what they hold (`bench/house_names.py`).

`LEFT` is a ratchet: the names of a folder that still state nothing. It may only shrink.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.house_names import by_folder, is_participle, is_quaint

ROOT = Path(__file__).parent.parent
COUNTS = by_folder(ROOT / "src" / "tunewright")
LEFT: dict[str, int] = {
    "": 1,
    "advice": 2,
    "budgets": 1,
    "campaigns": 3,
    "checks": 10,
    "costs": 1,
    "demo": 1,
    "design": 4,
    "execution": 7,
    "formats": 1,
    "launches": 1,
    "messages": 7,
    "pipeline": 7,
    "present": 1,
    "probes": 5,
    "progress": 23,
    "project": 4,
    "receipts": 5,
    "search": 2,
    "sinks": 6,
    "stats": 1,
    "store": 2,
    "testing": 1,
}


@pytest.mark.parametrize("folder", sorted(COUNTS))
def test_names_of_a_folder_state_what_they_hold(folder: str) -> None:
    counts = COUNTS[folder]
    assert counts.total() <= LEFT.get(folder, 0), f"name what it is: {dict(counts)}"


@pytest.mark.parametrize("name", ["found", "_own", "one", "luck_of_repeats", "WishToStop"])
def test_a_name_that_states_nothing_is_seen(name: str) -> None:
    assert is_quaint(name)


@pytest.mark.parametrize("name", ["owner", "trials_found", "noise", "stop_request", "everyone"])
def test_a_name_that_states_what_it_holds_is_left_alone(name: str) -> None:
    assert not is_quaint(name)


def test_a_function_named_like_a_value_is_seen() -> None:
    names = ("climbed", "_drawn_rows", "told", "climb", "seed", "read", "fixed_values")
    assert [name for name in names if is_participle(name)] == ["climbed", "_drawn_rows", "told"]
