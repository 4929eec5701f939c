"""Case 5: killed at random moments again and again, nothing is lost and nothing doubled."""

from __future__ import annotations

import random
import time

import pytest
from tests.faults.endurance import kill


def check_kills(round, kills: int, longest_s: float, seed: int) -> int:
    """Kill the round again and again, let it finish, and check it; how many kills met it alive."""
    moments = random.Random(seed)
    met = 0
    for _ in range(kills):
        process = round.start()
        time.sleep(moments.uniform(0.3, longest_s))
        kill(process.pid)
        met += process.wait() != 0
    round.finish()
    round.check()
    return met


def test_case_05(endurance):
    assert check_kills(endurance(20, sleep_s=0.03), kills=10, longest_s=2.5, seed=5) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_case_05_a_hundred_kills(endurance, seed):
    # a trial of 2 s, two at a time: a hundred kills leave time for about a hundred of them
    round = endurance(160, sleep_s=0.25)
    assert check_kills(round, kills=100, longest_s=3.0, seed=seed) == 100, "it was done too soon"
