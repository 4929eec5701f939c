"""One process runs a round while others join, stop or are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, Tunewright

pytestmark = pytest.mark.beyond_core  # most of them start processes

DEADLINE_S = 120.0
SLOW = """
import time


def train(run, learning_rate, layers=1, max_train_steps=20):
    for step in run.steps(max_train_steps):
        time.sleep(0.1)
        run.log(step, valid_error=1 / step)
        if run.save_due(step):
            run.save({"step": step})
"""


@pytest.fixture
def running(project: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the round, one slow trial at a time; the first one has begun."""
    (project / "train.py").write_text(SLOW)
    text = ROUND.replace("trials_per_study = 4", "trials_per_study = 2")
    (project / "rounds" / "layers.toml").write_text(text)
    script = "import sys; from tunewright.cli.main import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "run", "layers", "--workers", "1"],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "begins" not in process.stderr.readline():
        assert process.poll() is None
    yield process
    process.kill()
    process.communicate()


def test_a_second_supervisor_is_refused_with_the_owner_named(
    running: subprocess.Popen[str], tunewright: Tunewright
) -> None:
    answer = tunewright("run", "layers")
    assert answer.code == 3
    assert str(running.pid) in answer.err
    assert "tunewright worker" in answer.err


def test_stop_ends_it_and_the_wish_is_forgotten(
    running: subprocess.Popen[str], tunewright: Tunewright
) -> None:
    assert "asked to stop: 1 running trial of layers" in tunewright("stop", "layers").out
    out, _ = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 130
    assert "stopped on request; tunewright run layers resumes" in out
    assert "pending" in tunewright("show", "layers").out
    again = tunewright("run", "layers", "--workers", "2")
    assert again.code == 0
    assert "4 trials: 4 completed" in again.out


def test_a_worker_helps(running: subprocess.Popen[str], tunewright: Tunewright) -> None:
    answer = tunewright("worker", "layers", "--workers", "2")
    assert answer.code == 0
    running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 0
    assert answer.err.count(" begins ") >= 1
    assert "4 trials: 4 completed" in tunewright("show", "layers").out


def test_an_idle_round_keeps_no_wish_to_stop(tunewright: Tunewright, ran: Path) -> None:
    assert "no trial of layers is running now" in tunewright("stop", "layers").out
    answer = tunewright("run", "layers", "--on", "inline", "--trials", "5")
    assert answer.code == 0
    assert "10 trials:" in answer.out
    assert "pending" not in answer.out
