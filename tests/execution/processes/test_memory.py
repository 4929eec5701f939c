"""Memory: what a tree takes, what its peak was, and whether the kernel struck."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.execution.driving import DEADLINE_S

from tunewright.execution.processes import memory, process_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_what_this_process_takes() -> None:
    own = [process_tree.table()[os.getpid()]]
    taken, shared = memory.tree_mb(own), memory.proportional_mb(own)
    assert shared is not None
    assert 10 < shared <= taken * 1.2


def test_a_peak_is_seen_and_forgotten() -> None:
    memory.forget_peak()
    before = memory.own_peak_mb()
    held = np.ones(50 * 2**17)
    grown = memory.own_peak_mb()
    assert before is not None and grown is not None
    assert grown > before + 40
    del held
    memory.forget_peak()
    after = memory.own_peak_mb()
    assert after is not None and after < grown - 40


def test_without_a_strike_nothing_is_reported() -> None:
    kills = memory.OomKills()
    assert not kills.more()
    assert memory.oom_kills() >= 0


# A round inside a control group with too little memory: the kernel ends the trial, not us.
INSIDE = """
import os, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
group = Path({group!r})
(group / "cgroup.procs").write_text(str(os.getpid()))
from tests.execution.driving import drive
from tests.execution.misbehaving import eats_memory, fine
from tunewright.execution.executors.local import Local

executor = Local(workers=1, devices=[])
told = drive(executor, eats_memory, Path({folder!r}) / "a", [dict(megabytes=1000)])
after = drive(executor, fine, Path({folder!r}) / "b", [dict()])
executor.close()
print(told[0].end.status, "|", told[0].end.reason)
print(after[0].end.status)
"""


@pytest.mark.beyond_core
def test_31_an_oom_kill_by_the_control_group_is_infeasible(tmp_path: Path) -> None:
    group = _control_group("memory.limit_in_bytes", 400 * 2**20)
    try:
        tests = str(Path(__file__).parent)
        source = INSIDE.format(tests=tests, group=str(group), folder=str(tmp_path))
        answer = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source)],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    finally:
        group.rmdir()
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [
        "infeasible | out of memory: the kernel killed the trial",
        "completed",
    ]


def _control_group(limit: str, size: int) -> Path:
    """A new memory control group below our own, or skip."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            group = Path("/sys/fs/cgroup/memory") / path.lstrip("/") / f"tunewright-{os.getpid()}"
            break
    else:
        group = Path("/sys/fs/cgroup") / f"tunewright-{os.getpid()}"
        limit = "memory.max"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        (group / limit).write_text(str(size))
    except OSError as error:
        group.rmdir()
        pytest.skip(f"no control group can be limited here: {error}")
    return group
