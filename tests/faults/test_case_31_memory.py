"""Case 31: too much memory is infeasible, with the peak recorded; the round goes on."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros
from tests.store.record_parts import rows

from tunewright.execution.executors.local import Local
from tunewright.store.schema import trial as trial_table
from tunewright.store.store import Store


def test_case_31(tmp_path):
    executor = Local(workers=2, devices=[], memory_gb=0.4)
    eaters = ["eats memory", "eats memory below"]
    day = bad_day(tmp_path, [*eaters, "runs out of memory"], executor)
    check_three_zeros(day)
    for kind in (*eaters, "runs out of memory"):
        trial = day.of(kind)
        assert trial.status == "infeasible"
        assert "out of memory" in trial.reason
        assert trial.attempts == 1
        assert trial.number not in day.ended
    with Store.open(tmp_path / "tuning.db") as store:
        peaks = {row["id"]: row["peak_memory_mb"] for row in rows(store, trial_table)}
    for kind in eaters:
        assert peaks[day.of(kind).identity] > 300
