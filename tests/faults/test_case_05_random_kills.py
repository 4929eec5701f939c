"""Case 5: killed at random moments again and again, nothing is lost and nothing doubled."""

from __future__ import annotations

import random
import time

import pytest
from endurance import kill


def check_kills(round, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    for _ in range(kills):
        process = round.start()
        time.sleep(moments.uniform(0.3, 5.0))
        kill(process.pid)
        process.wait()
        if process.returncode == 0:
            break
    round.finish()
    round.check()


def test_case_05(endurance):
    check_kills(endurance(20, sleep_s=0.03), kills=10, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_case_05_up_to_a_hundred_kills(endurance, seed):
    check_kills(endurance(50, sleep_s=0.05), kills=100, seed=seed)
