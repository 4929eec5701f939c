"""`judge try`, killed by SIGKILL in the middle: the next call has the runs that were made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.referee.programs import PROGRAM, git

import tunewright as tw

pytestmark = pytest.mark.beyond_core  # it kills processes
SLOW = "import time; time.sleep(0.3)\n"


def journal(own: tw.referee.Referee) -> list[dict]:  # type: ignore[type-arg]
    """The events that are whole."""
    lines = own.lineage.journal.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def test_a_killed_command_resumes(tmp_path: Path) -> None:
    folder = tmp_path
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("tuning*\n__pycache__/\n")
    (folder / "train.py").write_text(SLOW + PROGRAM.format(size=2.0))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    own = tw.referee.begin(
        f"{sys.executable} train.py {{run.seed}}",
        tw.minimize("loss"),
        folder=folder,
        store=folder / "tuning.db",
    )
    (folder / "train.py").write_text(SLOW + PROGRAM.format(size=1.5))
    git(folder, "commit", "-qam", "smaller")
    words = [sys.executable, "-m", "tunewright", "judge", "try", "--json"]
    before: list[dict] = []  # type: ignore[type-arg]
    for wanted in (2, 3):  # killed twice, each time once more runs are on disk
        child = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True
        )
        until = time.monotonic() + 120
        while sum(one["event"] == "run" for one in journal(own)) < wanted:
            assert child.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert journal(own)[: len(before)] == before, "nothing that was written is lost"
        before = journal(own)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    decision = json.loads(done.stdout)["data"]
    events = journal(own)
    assert events[: len(before)] == before
    runs = [one for one in events if one["event"] == "run"]
    assert [one["number"] for one in runs] == list(range(1, len(runs) + 1))
    assert len({one["seed"] for one in runs}) == len(runs)
    assert sum(one["event"] == "opened" for one in events) == 1
    assert decision["verdict"] == "keep"
    assert decision["runs"] + decision["baseline_runs"] == len(runs) == own.status().cost.runs
