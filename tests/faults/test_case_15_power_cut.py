"""Case 15: everything is killed and the log's tail never reached the disk: it opens."""

from __future__ import annotations

import shutil

import pytest
from tests.faults.bad_days import wait_until
from tests.faults.endurance import Endurance, is_alive, kill
from tests.faults.quick_rounds import REPETITIONS

import tunewright as tw


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize(
    "cut", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (5_000, 60_000))]
)
def test_case_15(tmp_path, cut, repetition):
    round = Endurance(str(tmp_path / "tuning.db"), tmp_path, 5, sleep_s=0.06)
    try:
        process = round.start()
        round.wait_for("ended", 3)
        pids = {line[4] for line in round.lines()}
        kill(process.pid, *pids)
        process.wait()
        wait_until(lambda: not any(is_alive(pid) for pid in pids))
        log = tmp_path / "tuning.db-wal"
        whole = log.read_bytes()
        shutil.copy(tmp_path / "tuning.db", tmp_path / "whole.db")
        shutil.copy(log, tmp_path / "whole.db-wal")
        acknowledged = {
            t.number for t in tw.load(tmp_path / "whole.db", "endurance").trials if t.ended
        }
        log.write_bytes(whole[: max(len(whole) - cut, 0)])
        (tmp_path / "tuning.db-shm").unlink(missing_ok=True)
        kept = {t.number for t in round.results().trials if t.ended}
        assert kept <= acknowledged
        if cut == 1:
            assert len(acknowledged - kept) <= 1, "at most the last write"
        round.finish()
        results = round.check()
        for number in acknowledged:
            assert results.trial(number).attempts == 1, "its result was in the trial folder"
    finally:
        round.close()
