"""Finding and ending processes, however they tried to get away."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.execution.driving import alive, gone

from tunewright.execution.processes import process_tree

SLEEP = "import time; time.sleep(600)"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def test_this_process_is_in_the_table() -> None:
    own = process_tree.table()[os.getpid()]
    assert own.parent == os.getppid()
    assert own.resident > 10 * 2**20
    assert not own.zombie


@pytest.mark.beyond_core
def test_psutil_finds_the_same(started: list[subprocess.Popen[bytes]]) -> None:
    mark = process_tree.new_mark()
    environment = {**os.environ, process_tree.MARK: f"{mark}/inner"}
    started.append(subprocess.Popen([sys.executable, "-c", SLEEP], env=environment))
    while not process_tree._carries(started[0].pid, mark):
        time.sleep(0.01)  # the environment appears when the process has been started
    by_proc = {p.pid: (p.parent, p.zombie) for p in process_tree._from_proc()}
    by_psutil = {p.pid: (p.parent, p.zombie) for p in process_tree._from_psutil()}
    for pid in (os.getpid(), started[0].pid):
        assert by_proc[pid] == by_psutil[pid]
    assert process_tree._carries_by_psutil(started[0].pid, mark)
    assert not process_tree._carries_by_psutil(started[0].pid, process_tree.new_mark())
    assert not process_tree._carries_by_psutil(os.getpid(), mark)


@pytest.mark.beyond_core
def test_marks_survive_what_groups_do_not(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    mark = process_tree.new_mark()
    environment = {**os.environ, process_tree.MARK: mark}
    inner = {**os.environ, process_tree.MARK: f"{mark}/inner"}
    foreign = {**os.environ, process_tree.MARK: process_tree.new_mark()}
    for env, session in ((environment, False), (inner, True), (foreign, True)):
        command = [sys.executable, "-c", SLEEP]
        started.append(subprocess.Popen(command, env=env, start_new_session=session))
    while len(process_tree.with_mark(mark, process_tree.table().values())) < 2:
        time.sleep(0.01)  # their environments appear when they have been started
    assert process_tree.kill_marked(mark) == 2
    one, two, other = started
    assert gone([one.pid, two.pid], within_s=0)
    assert alive(other.pid)


@pytest.mark.beyond_core
def test_a_tree_ends_with_its_orphans(tmp_path: Path) -> None:
    """The root leaves a session behind and dies; the mark finds what has lost its parent."""
    mark = process_tree.new_mark()
    source = f"""
import os, subprocess, sys
left = subprocess.Popen([sys.executable, "-c", {SLEEP!r}], start_new_session=True)
print(left.pid, flush=True)
{SLEEP}
"""
    root = subprocess.Popen(
        [sys.executable, "-c", source],
        env={**os.environ, process_tree.MARK: mark},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert root.stdout is not None
    left = int(root.stdout.readline())
    process_tree.kill_tree(root.pid, mark)
    root.wait()
    root.stdout.close()
    assert gone([root.pid, left], within_s=0)


@pytest.mark.beyond_core
def test_whether_there_are_children() -> None:
    source = """
import subprocess, sys
from tunewright.execution.processes import process_tree
print(process_tree.has_children())
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(process_tree.has_children(), process_tree.kill_children())
child.wait()
print(process_tree.has_children())
"""
    answer = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert answer.stdout.split() == [b"False", b"True", b"1", b"False"]
