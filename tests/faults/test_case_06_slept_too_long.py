"""Case 6: a joined worker that slept longer than its lease drops its trials and goes on."""

from __future__ import annotations

import os
import signal

import pytest
from tests.faults.bad_days import wait_until
from tests.faults.quick_rounds import REPETITIONS


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_06_slept_too_long(endurance, repetition):
    # the owner is at work for longer than the lease, so that it meets what the sleeper held
    round = endurance(12, sleep_s=0.2, environment={"TUNEWRIGHT_LEASE_S": "3"})
    round.hold(after=2)
    owner = round.start()
    round.wait_for("began", 2)
    owners = {line[4] for line in round.lines()}
    helper = round.start("join")
    wait_until(lambda: len({line[4] for line in round.lines()} - owners) == 2)
    held = {line[0] for line in round.lines() if line[4] not in owners}
    workers = {line[4] for line in round.lines()} - owners
    for pid in (helper.pid, *workers):  # as a machine that is suspended
        os.kill(pid, signal.SIGSTOP)
    round.go_on()
    wait_until(lambda: held <= {line[0] for line in round.lines() if line[1] == 2})
    for pid in (helper.pid, *workers):
        os.kill(pid, signal.SIGCONT)
    for process in (owner, helper):
        _, said = process.communicate(timeout=180)
        assert process.returncode == 0, said
    assert "taken for dead" in said, "it says so, and goes on"
    results = round.results()
    assert results.counts == {"completed": 12}
    began = [line[:2] for line in round.lines() if line[2] == "began"]
    assert len(set(began)) == len(began), "no attempt was trained twice"
    for trial in results.trials:
        assert trial.attempts == max(n for number, n in began if number == trial.number)
        assert trial.attempts == 2 or trial.number not in held
        assert trial.curves["valid_error"].steps.tolist() == list(range(1, 9)), "a point is missing"
