"""What asks a task to stop, by signals, files and the clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.execution.executors.slurm.test_slurm import assignment

from tunewright.execution.executors.executor import Ended
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.slurm.job import ALIVE, Batch, Order, newest, script
from tunewright.execution.executors.slurm.task import (
    TERM_GRACE_S,
    Watch,
    _preemption,
    _with_reason,
    main,
)
from tunewright.messages import Message
from tunewright.store.outcome import Outcome

ORDER = Order(Limits(None, None, None), notice_s=120.0, orphan_s=300.0, gpus=0)


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
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


def test_the_warning_that_the_shell_heard(watch: Watch) -> None:
    watch.batch.warning_file(0).touch()
    assert code(watch) == ("slurm.time_limit", 96.0)


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


def test_a_trial_that_sigterm_killed_was_stopped(watch: Watch) -> None:
    """Slurm signals every process of a job, and the trial's may be gone first."""
    exited = Message("process.exited", {"status": -15, "signal": "SIGTERM"})
    ended = Ended(1, 1, Outcome("died", exited))
    watch.hear(signal.SIGTERM, None)
    named = _with_reason(ended, _preemption(ended, watch))
    reason = named.outcome.reason
    assert named.outcome.status == "stopped"
    assert reason is not None and reason.code == "slurm.terminated"
    crashed = Message("process.exited", {"status": 1, "signal": ""})
    other = Ended(1, 1, Outcome("died", crashed))
    assert _with_reason(other, _preemption(other, watch)) == other


def test_a_task_that_slurm_starts_twice_does_nothing_the_second_time(watch: Watch) -> None:
    assert watch.batch.begin(0)
    assert not watch.batch.restart_file(0).exists()
    assert not watch.batch.begin(0)
    assert watch.batch.restart_file(0).exists() and not watch.batch.restart_file(1).exists()
    assert main([str(watch.batch.folder)], 0) == 0
    assert not watch.batch.mailbox(0).exists()


@pytest.mark.beyond_core
def test_the_shell_hears_the_warning_before_python_does(tmp_path: Path) -> None:
    """The script as Slurm runs it, with a program that is warned while it starts."""
    folder = tmp_path / "it's a batch"
    folder.mkdir()
    text = script([], folder)
    begin, end = text.index(f"exec {sys.executable}"), text.index(") &\n")
    program = "import os, signal, time; os.kill(os.getpid(), signal.SIGUSR1); time.sleep(0.2)"
    slow = f"exec {sys.executable} -c '{program}; exit(7)'"
    own = text[:begin] + "kill -USR1 $$; kill -TERM $$; " + slow + text[end:]
    around = {**os.environ, "SLURM_ARRAY_TASK_ID": "3"}
    done = subprocess.run(["bash", "-c", own], capture_output=True, timeout=60, env=around)
    assert done.returncode == 7, done.stderr
    assert Batch(folder).warning_file(3).exists()
