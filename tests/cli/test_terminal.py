"""Real processes at a pseudo-terminal: the live region, colours, and what Ctrl-C does."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.small_project import ROUND

pytestmark = pytest.mark.beyond_core

pty = pytest.importorskip("pty")
DEADLINE_S = 120.0
SLOW = """
import time


def train(run, learning_rate, layers=1, max_train_steps=20):
    state = run.restored or {"slept": 0}
    for step in run.steps(max_train_steps):
        (run.folder.parent.parent.parent / "trained.txt").open("a").write(f"{run.number} {step}\\n")
        time.sleep(0.1)
        run.log(step, valid_error=1 / (step + layers))
        if run.save_due(step):
            run.save({"slept": step})
"""


class Session:
    """`tunewright ...` at a pseudo-terminal of its own."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        script = "import sys; from tunewright.cli.main import main; sys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40", **environment},
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def read_until(self, done: Callable[[str], bool]) -> str:
        """Read on until the text so far is `done`, or the process has ended."""
        deadline = time.monotonic() + DEADLINE_S
        while not done(self.text):
            assert time.monotonic() < deadline, f"never seen; last: {self.text[-2000:]}"
            ready, _, _ = select.select([self._ours], [], [], 0.2)
            try:
                if ready:
                    self.text += os.read(self._ours, 65536).decode("utf-8", "replace")
            except OSError:  # the other end is closed
                break
        return self.text

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        self.read_until(lambda text: False)
        os.close(self._ours)
        return self.process.wait(DEADLINE_S)


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SLOW)
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND.replace("_study = 4", "_study = 2"))
    (tmp_path / "tunewright.toml").write_text(
        '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\n'
    )
    return tmp_path


def statuses(folder: Path) -> dict[str, int]:
    script = "import sys; from tunewright.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, "show", "layers", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = json.loads(done.stdout)["data"]["counts"]
    return counts


def test_a_live_region_and_one_ctrl_c(slow: Path) -> None:
    session = Session(slow, "run", "layers", "--workers", "2")
    session.read_until(lambda text: "2 running" in text)
    session.interrupt()
    assert session.finish() == 130
    text = session.text
    assert "no new trials" in text
    assert "layers: interrupted; tunewright run layers resumes" in text
    assert "\x1b[?25l" in text  # the cursor is hidden while the region is redrawn
    assert text.count("░") > 0
    counts = statuses(slow)
    assert counts["completed"] >= 2  # the running ones finished
    assert counts["pending"] == 4 - counts["completed"]


def test_ctrl_c_twice_saves_and_the_next_run_resumes(slow: Path) -> None:
    session = Session(slow, "run", "layers", "--workers", "1", NO_COLOR="1")
    session.read_until(lambda text: "1 running" in text)
    trained = slow / "trained.txt"
    deadline = time.monotonic() + DEADLINE_S
    while not trained.exists() or len(trained.read_text().splitlines()) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    session.interrupt()
    session.read_until(lambda text: "no new trials" in text)
    session.interrupt()
    assert session.finish() == 130
    assert "asked to save and stop" in session.text
    assert "\x1b[3" not in session.text  # NO_COLOR is obeyed
    assert statuses(slow) == {"pending": 4}

    again = Session(slow, "run", "layers", "--workers", "2")
    assert again.finish() == 0
    assert statuses(slow) == {"completed": 4}
    steps = [line for line in trained.read_text().splitlines() if line.startswith("0 ")]
    assert steps == [f"0 {step}" for step in range(1, 21)]  # no step of it was trained twice
