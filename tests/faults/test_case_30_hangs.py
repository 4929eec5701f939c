"""Case 30: a hang is ended by a time-out, whatever it holds; the round goes on."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.execution.executors.local import Local


def test_case_30_trial_timeout(tmp_path):
    executor = Local(workers=2, devices=[], trial_timeout_s=8.0)
    day = bad_day(tmp_path, ["hangs after steps", "hangs without threads"], executor)
    check_three_zeros(day)
    for kind in ("hangs after steps", "hangs without threads"):
        trial = day.of(kind)
        assert trial.status == "failed"
        assert trial.reason.code == "limit.time"
        assert trial.attempts == 1, "a time-out is not tried again"
        assert trial.number not in day.ended
    assert day.of("hangs after steps").curves["valid_error"].steps.tolist() == [1, 2, 3]


def test_case_30_no_progress(tmp_path):
    executor = Local(workers=2, devices=[], no_progress_timeout_s=5.0)
    day = bad_day(tmp_path, ["hangs", "hangs after steps"], executor)
    check_three_zeros(day)
    for kind in ("hangs", "hangs after steps"):
        assert day.of(kind).status == "failed"
        assert day.of(kind).reason.code == "limit.no_progress"
