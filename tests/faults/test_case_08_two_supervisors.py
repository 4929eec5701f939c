"""Case 8: a second supervisor is refused with host, pid and age, unless it joins."""

from __future__ import annotations

import re
import socket

from tests.faults.quick_rounds import MOSTLY_SQLITE

pytestmark = MOSTLY_SQLITE


def test_case_08(endurance):
    round = endurance(6)
    round.hold()
    owner = round.start()
    round.wait_for("began", 2)
    second = round.start()
    _, said = second.communicate(timeout=180)
    assert second.returncode == 1
    assert re.search(rf"Busy: .*host {socket.gethostname()}, pid {owner.pid}, for \d+ s", said)
    joined = round.start("join")
    round.go_on()
    assert owner.wait(180) == 0
    assert joined.wait(180) == 0
    results = round.check()
    assert {t.attempts for t in results.trials} == {1}
