"""Case 33: processes that outlive their trial are ended with it."""

from __future__ import annotations

from pathlib import Path

from tests.faults.bad_days import bad_day, check_three_zeros, wait_until


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_case_33(tmp_path):
    kinds = ["leaves processes", "leaves processes and dies"]
    day = bad_day(tmp_path, kinds)
    check_three_zeros(day)
    assert day.of(kinds[0]).status == "completed"
    assert day.of(kinds[1]).status == "failed"
    for kind in kinds:
        folder = tmp_path / "tuning.db.trials" / day.of(kind).folder
        pids = [int(pid) for pid in (folder / "pids").read_text().split()]
        assert len(pids) == 4
        wait_until(lambda pids=pids: not any(alive(pid) for pid in pids))
