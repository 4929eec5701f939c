"""Case 31: too much memory is infeasible, with the peak recorded; the round goes on."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.execution.executors.local import Local


def test_case_31(tmp_path):
    executor = Local(workers=2, devices=[], memory_gb=0.4)
    eaters = ["eats memory", "eats memory below"]
    day = bad_day(tmp_path, [*eaters, "runs out of memory"], executor)
    check_three_zeros(day)
    for kind in (*eaters, "runs out of memory"):
        trial = day.of(kind)
        assert trial.status == "infeasible"
        assert trial.reason.code == ("limit.memory" if kind in eaters else "memory.exhausted")
        assert trial.attempts == 1
        assert trial.number not in day.ended
    for kind in eaters:
        assert day.of(kind).peak_memory_mb > 300
