"""Case 7: Ctrl-C once finishes what runs; twice, or SIGTERM, saves it for later."""

from __future__ import annotations

import signal
import subprocess

import pytest
from tests.faults.quick_rounds import MOSTLY_SQLITE

pytestmark = MOSTLY_SQLITE


def test_case_07_one_ctrl_c_finishes_what_runs(endurance):
    round = endurance(6, sleep_s=0.15)
    process = round.start()
    round.wait_for("began", 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=180)
    assert process.returncode == 0, said
    assert "interrupted" in said
    began = [line for line in round.lines() if line[2] == "began"]
    ended = [line for line in round.lines() if line[2] == "ended"]
    assert len(began) == len(ended) < 6, "no new trials; the running ones came to their end"
    assert round.results().counts == {"completed": len(ended), "pending": 6 - len(ended)}
    round.finish()
    results = round.check()
    assert {t.attempts for t in results.trials} == {1}


def wait_until_it_says(text: str, process: subprocess.Popen) -> None:
    while text not in (line := process.stderr.readline()):
        assert line, f"it ended without saying {text!r}"


@pytest.mark.parametrize("how", ["twice", "SIGTERM"])
def test_case_07_stopped_trials_save_and_resume(endurance, how):
    round = endurance(4)
    round.hold(after=2)
    process = round.start()
    for number in (0, 1):
        round.wait_for_step(number, 2)
    if how == "twice":
        process.send_signal(signal.SIGINT)
        wait_until_it_says("no new trials", process)
        process.send_signal(signal.SIGINT)
    else:
        process.send_signal(signal.SIGTERM)
    round.go_on()
    _, said = process.communicate(timeout=180)
    assert process.returncode == (143 if how == "SIGTERM" else -signal.SIGINT), said
    results = round.results()
    assert results.counts == {"pending": 4}, "back to pending"
    assert not [line for line in round.lines() if line[2] == "ended"]
    round.finish()
    results = round.check()
    resumed = [line for line in round.lines() if line[1:3] == (2, "began")]
    assert len(resumed) == 2
    assert all(line[3] >= 1 for line in resumed), "each goes on from its checkpoint"
