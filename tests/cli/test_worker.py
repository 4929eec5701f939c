"""`tunewright worker` on a PostgreSQL store: joins, hands its trial back on SIGTERM, and leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.store.store import Store

pytestmark = pytest.mark.postgres
DEADLINE_S = 120.0
TRAIN = """
import json, os, time


def train(run, learning_rate, max_train_steps=30):
    state = run.restored
    note(run, "start", run.start_step)
    for step in run.steps(max_train_steps):
        note(run, "step", step)
        run.log(step, valid_error=learning_rate / step)
        if run.save_due(step):
            run.save({"step": step})
        time.sleep(0.1)
    note(run, "finish", step)


def note(run, what, step):
    about = {"what": what, "number": run.number, "attempt": run.attempt, "step": step}
    with open("events", "a") as events:  # one short write: whole lines, whoever else writes
        events.write(json.dumps({**about, "parent": os.getppid()}) + "\\n")
"""
ROUND = """
goal = "Which learning rate?"
trials_per_study = 4
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
"""


@pytest.fixture
def start(
    tmp_path: Path, new_postgres_url: Callable[[], str]
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command in a project whose store is a database that machines could share."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "rate.toml").write_text(ROUND)
    (tmp_path / "tunewright.toml").write_text(
        '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\n'
        f'store = "{new_postgres_url()}"\nfolder = "trials"\n'
    )
    script = "import sys; from tunewright.cli.main import main; sys.exit(main())"
    started: list[subprocess.Popen[str]] = []

    def command(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *words],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "180"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield command
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def noted(folder: Path) -> list[dict[str, Any]]:
    file = folder / "events"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def store_of(folder: Path) -> str:
    (line,) = [x for x in (folder / "tunewright.toml").read_text().splitlines() if "store" in x]
    return line.split('"')[1]


def wait_for(happened: Callable[[], object]) -> None:
    until = time.monotonic() + DEADLINE_S
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.05)


def test_a_worker_joins_hands_back_and_another_goes_on(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    owner = start("run", "rate", "--workers", "1")
    wait_for(lambda: noted(tmp_path))
    worker = start("worker", "rate", "--workers", "1")

    def far() -> list[dict[str, Any]]:
        return [one for one in noted(tmp_path) if one["parent"] == worker.pid and one["step"] > 8]

    wait_for(far)
    worker.send_signal(signal.SIGTERM)
    said, _ = worker.communicate(timeout=DEADLINE_S)
    assert worker.returncode == 130, said
    assert "goes back to pending" in said
    number = far()[0]["number"]
    brief = start("worker", "rate", "--workers", "1", "--max-hours", "0.00001")
    said, _ = brief.communicate(timeout=DEADLINE_S)
    assert brief.returncode == 0 and "the time is over" in said, said
    said, _ = owner.communicate(timeout=DEADLINE_S)
    assert owner.returncode == 0, said

    events = noted(tmp_path)
    finished = Counter(one["number"] for one in events if one["what"] == "finish")
    assert finished == {number: 1 for number in range(4)}, "each came to its end once"
    handed = [one for one in events if one["number"] == number and one["what"] == "start"]
    assert [one["attempt"] for one in handed] == [1, 2]
    assert handed[1]["step"] >= 8 and handed[1]["parent"] != worker.pid, "it went on elsewhere"
    store = store_of(tmp_path)
    results = tw.load(store, "rate")
    assert [one.status for one in results.trials] == ["completed"] * 4
    with Store.open(store, create=False) as opened:
        first, second = opened.attempts(results.trial(number).identity)
    assert (first.outcome, second.start_step) == ("stopped", handed[1]["step"])
    assert results.curves(results.trial(number), "valid_error").steps.tolist() == list(range(1, 31))
