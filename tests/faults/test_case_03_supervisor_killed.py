"""Cases 3 and 4: the supervisor is killed, or everything is; the same command goes on."""

from __future__ import annotations

import pytest
from tests.faults.bad_days import wait_until
from tests.faults.endurance import is_alive, kill


@pytest.mark.parametrize("everything", [False, True], ids=["supervisor", "everything"])
def test_case_03_and_04(endurance, everything):
    round = endurance(6, sleep_s=0.1)
    process = round.start()
    round.wait_for("ended", 2)
    round.wait_for("began", 4)
    pids = {line[4] for line in round.lines()}
    kill(process.pid, *(pids if everything else ()))
    process.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in pids))  # workers end with it
    finished = {t.number for t in round.results().trials if t.ended}
    round.finish()
    results = round.check()
    for number in finished:
        assert results.trial(number).attempts == 1, "a finished trial was run again"
    assert {line[0] for line in round.lines()} == set(range(6)), "as many as asked, exactly"
