"""Case 29: sys.exit fails at once; sudden deaths are tried three times."""

from __future__ import annotations

import pytest
from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.execution.executors.local import Local

DEADLY = ["exits hard", "segfaults", "kills itself"]


@pytest.mark.parametrize("isolate", ["auto", "always"])
def test_case_29(tmp_path, isolate):
    executor = Local(workers=2, devices=[], isolate=isolate)
    day = bad_day(tmp_path, ["exits 0", "exits 1", *DEADLY, "dies once"], executor)
    check_three_zeros(day)
    for kind in ("exits 0", "exits 1"):
        trial = day.of(kind)
        assert trial.status == "failed"
        assert trial.reason.code == "trial.called_exit"
        assert trial.reason.facts["status"] == kind[-1]
        assert trial.attempts == 1, "failed at once"
    for kind in DEADLY:
        trial = day.of(kind)
        assert (trial.status, trial.attempts) == ("failed", 3)
        assert (trial.reason.code, trial.reason.facts["deaths"]) == ("trial.died_repeatedly", 3)
        began = [attempt for number, attempt in day.began if number == trial.number]
        assert began == [1, 2, 3], "the same number, the next attempt"
    assert day.of("exits hard").reason.facts["cause"]["status"] == 3
    assert "about to leave" in day.of("exits hard").detail, "the tail of its log"
    resumed = day.of("dies once")
    assert (resumed.status, resumed.attempts) == ("completed", 2)
    assert resumed.value == pytest.approx(0.1), "it went on from its checkpoint: ten steps in all"
    assert resumed.curves["valid_error"].steps.tolist() == list(range(1, 11))
