"""Case 1: a killed trial process comes back under its number, from its last checkpoint."""

from __future__ import annotations

from tests.faults.endurance import kill


def test_case_01(endurance):
    round = endurance(3, sleep_s=0.2)
    process = round.start()
    round.wait_for("began", 2)
    victim = next(line for line in round.lines() if line[0] == 1)
    round.wait_for_step(victim[0], 3)
    kill(victim[4])
    assert process.wait(180) == 0
    results = round.check()
    trial = results.trial(1)
    assert trial.attempts == 2
    resumed = next(line for line in round.lines() if line[:3] == (1, 2, "began"))
    assert resumed[3] >= 1, "it resumed from its checkpoint"
    assert results.trial(0).attempts == 1, "the others did not notice"
