"""Case 2: the trials of a killed worker are taken over by those who are left."""

from __future__ import annotations

from tests.faults.bad_days import wait_until
from tests.faults.endurance import is_alive, kill


def test_case_02(endurance):
    round = endurance(10, environment={"TUNEWRIGHT_LEASE_S": "3"})
    round.hold(after=2)
    owner = round.start()
    round.wait_for("began", 2)
    owners = {line[4] for line in round.lines()}  # its two workers stay warm
    helper = round.start("join")
    wait_until(lambda: len({line[4] for line in round.lines()} - owners) == 2)
    helped = {line[4]: line[0] for line in round.lines() if line[4] not in owners}
    kill(helper.pid)
    helper.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in helped))  # its children die with it
    round.go_on()
    assert owner.wait(180) == 0
    results = round.check()
    assert [results.trial(number).attempts for number in helped.values()] == [2, 2]
    assert sum(t.attempts for t in results.trials) == 12
