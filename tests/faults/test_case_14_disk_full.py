"""Case 14: a round pauses before the disk is full and goes on when there is space again."""

from __future__ import annotations

import threading
import time

import pytest
from tests.execution.watching import Kept
from tests.faults.bad_days import wait_until
from tests.faults.endurance import Endurance
from tests.faults.quick_rounds import REPETITIONS, asked, check, lines, workload
from tests.faults.small_disk import fill, small_disk

from tunewright.execution.run import supervise


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_14_pauses_before_the_reserve_is_used(tmp_path, repetition):
    with small_disk(tmp_path / "disk", 80) as disk:
        journal, ballast = tmp_path / "journal", disk / "ballast"
        watch = Kept()
        fill(ballast, leave_mb=40)

        def free_space():
            wait_until(lambda: any("paused" in said for said in watch.all("message")))
            time.sleep(1.0)
            assert not lines(journal), "nothing is begun while it is paused"
            ballast.unlink()

        friend = threading.Thread(target=free_space)
        friend.start()
        try:
            results = supervise(asked(journal, 4), workload(disk / "tuning.db"), watch=watch)
        finally:
            friend.join()
        paused, going_on = (said for said in watch.all("message") if "space" in said)
        assert "MB are free" in paused and "until space is freed" in paused
        assert "space again" in going_on
        check(results, journal, 4)


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_14_not_a_byte_left_in_mid_training(tmp_path, repetition):
    with small_disk(tmp_path / "disk", 90) as disk:
        round = Endurance(str(disk / "tuning.db"), disk, 6, sleep_s=0.15)
        journal = tmp_path / "journal"  # of the test, not of the round: it must go on
        round.__class__ = type("Elsewhere", (Endurance,), {"journal": journal})
        try:
            process = round.start()
            round.wait_for("ended", 1)
            round.wait_for("began", 3)
            fill(disk / "ballast")
            time.sleep(3.0)
            assert process.poll() is None, process.stderr.read()
            finished = {t.number for t in round.results().trials if t.ended}
            (disk / "ballast").unlink()
            _, said = process.communicate(timeout=180)
            assert process.returncode == 0, said
            results = round.check()
            assert finished <= {t.number for t in results.trials if t.attempts == 1}
        finally:
            round.close()
