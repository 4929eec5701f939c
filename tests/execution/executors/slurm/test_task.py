"""What asks a task to stop, by signals, files and the clock."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.execution.executors.slurm.test_slurm import assignment

from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.slurm.job import ALIVE, Batch, Order, newest, script
from tunewright.execution.executors.slurm.task import END_TIME, TERM_GRACE_S, Watch

ORDER = Order(Limits(None, None, None), notice_s=120.0, orphan_s=300.0, gpus=0)


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    monkeypatch.delenv(END_TIME, raising=False)
    batch = Batch(tmp_path / "batch")
    batch.folder.mkdir()
    own = assignment(tmp_path)
    newest(own.folder).write_text("1 batch")
    (batch.folder / ALIVE).write_bytes(b"0")
    return Watch(batch, 0, own, ORDER)


def code(watch: Watch) -> tuple[str, float] | None:
    asked = watch.asks()
    return None if asked is None else (asked[0].code, asked[1])


def test_nothing_asks(watch: Watch) -> None:
    assert code(watch) is None


def test_signals(watch: Watch) -> None:
    watch.hear(signal.SIGUSR1, None)
    assert code(watch) == ("slurm.time_limit", 96.0)
    watch.hear(signal.SIGTERM, None)
    assert code(watch) == ("slurm.terminated", TERM_GRACE_S)


def test_a_warning_that_was_missed_is_seen_by_the_clock(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(END_TIME, str(int(time.time()) + 3600))
    assert code(watch) is None
    monkeypatch.setenv(END_TIME, str(int(time.time()) + 60))
    asked = code(watch)
    assert asked is not None and asked[0] == "slurm.time_limit" and asked[1] < 60
    monkeypatch.setenv(END_TIME, "Unknown")
    assert code(watch) is None


def test_the_supervisors_files(watch: Watch) -> None:
    watch.batch.ask_stop(0, 7.5)
    assert code(watch) == ("stopped.asked", 7.5)
    newest(watch.assignment.folder).write_text("2 other")
    assert code(watch) == ("slurm.superseded", 0.0)


def test_a_supervisor_that_is_silent(watch: Watch) -> None:
    assert code(watch) is None
    watch._beat_at -= ORDER.orphan_s + 1
    assert code(watch) == ("slurm.orphaned", TERM_GRACE_S)
    watch.batch.beat(1)
    assert code(watch) is None


@pytest.mark.beyond_core
def test_a_warning_before_the_handler_ends_nothing(tmp_path: Path) -> None:
    """The script as Slurm runs it, with a program that is warned before it has a handler."""
    text = script(["sleep 0.1"], tmp_path)
    assert text.index("trap '' USR1") < text.index("sleep 0.1") < text.index("exec ")
    started = "import signal; print(signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN)"
    own = text[: text.index("exec ")] + f"kill -USR1 $$\nexec {sys.executable} -c '{started}'\n"
    done = subprocess.run(["bash", "-c", own], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "True")
