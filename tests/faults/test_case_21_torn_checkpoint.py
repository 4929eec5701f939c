"""Case 21: killed in the middle of a checkpoint, or a torn one: the one before it loads."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.faults.bad_days import wait_until
from tests.faults.endurance import Endurance, kill
from tests.faults.quick_rounds import REPETITIONS

from tunewright import snapshot

SLOW = pytest.mark.slow
WRITER = """
import sys
import numpy as np
from tunewright import snapshot

state = {"step": 0, "weights": np.zeros(3_000_000)}
print("ready", flush=True)
for step in range(1, 1_000_000):
    state["step"] = step
    state["weights"][:] = step
    snapshot.save(sys.argv[1], state, step=step)
"""


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=SLOW)])
def test_case_21_killed_in_mid_write(tmp_path, kills):
    folder, last = tmp_path / "snapshots", 0
    for kill_number in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
        )
        try:
            assert writer.stdout.readline() == b"ready\n"
            before = {path.name for path in folder.glob("step-*")}
            wait_until(lambda: {p.name for p in folder.glob("step-*")} - before)  # noqa: B023
            wait_until(lambda: any(folder.glob(".writing-*")))
            time.sleep(0.01 * (kill_number % 5))
        finally:
            writer.kill()
            writer.communicate()
        found = snapshot.latest(folder)
        assert found is not None and found.skipped == (), "what is published is whole"
        state = snapshot.load(found)
        assert state["step"] == found.step and np.all(state["weights"] == found.step)
        last = found.step
    assert last >= 1


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("tear", ["flip", *(pytest.param(t, marks=SLOW) for t in ("cut", "empty"))])
def test_case_21_torn_file(tmp_path, tear, repetition):
    round = Endurance(str(tmp_path / "tuning.db"), tmp_path, 1, sleep_s=0.15)
    try:
        process = round.start()
        round.wait_for("began", 1)
        round.wait_for_step(0, 4)
        kill(process.pid)
        process.wait()
        folder = next(tmp_path.glob("trials/r*/t000000/snapshots"))
        newest, older = snapshot.list_snapshots(folder)[:2]
        victim = newest.path / "tree.json"
        data = bytearray(victim.read_bytes())
        if tear == "flip":
            data[len(data) // 2] ^= 1
        victim.write_bytes(data if tear == "flip" else data[: len(data) // 2 * (tear == "cut")])
        found = snapshot.latest(folder)
        assert found is not None and found.path == older.path, "the one before it"
        assert "torn" in found.skipped[0], "told why"
        round.finish()
        round.check()
        resumed = next(line for line in round.lines() if line[:3] == (0, 2, "began"))
        assert resumed[3] <= older.step, "never after a step whose state is gone"
    finally:
        round.close()
