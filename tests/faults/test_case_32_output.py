"""Case 32: 100 MB of output are cut to head and tail, and the trial completes."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros


def test_case_32(tmp_path):
    day = bad_day(tmp_path, ["prints"])
    check_three_zeros(day)
    trial = day.of("prints")
    assert (trial.status, trial.value) == ("completed", 0.5)
    assert trial.number in day.ended
    folder = tmp_path / "tuning.db.trials" / trial.folder
    logs = [path for path in folder.iterdir() if "log" in path.name]
    assert sum(path.stat().st_size for path in logs) < 10 * 2**20
    text = "".join(path.read_text() for path in sorted(logs))
    assert "the first line" in text
    assert "the last line" in text
