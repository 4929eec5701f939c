"""The queue in front of SQLite's write lock."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tunewright.store.database import FileLock

HOLDER = """
import sys
from pathlib import Path
from tunewright.store.database import FileLock
with FileLock(Path(sys.argv[1])).held(60):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_holds_it_at_a_time_within_a_process_and_between_two(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    locks = [FileLock(path), FileLock(path)]
    inside: list[int] = []
    most: list[int] = []

    def work(lock: FileLock) -> None:
        for _ in range(20):
            with lock.held(60):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work, args=(lock,)) for lock in locks * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and len(most) == 80
    for lock in locks:
        lock.close()


@pytest.mark.beyond_core
def test_a_holder_that_does_not_let_go_is_waited_for_only_so_long(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        lock = FileLock(path)
        entered = []
        with lock.held(0.1):
            entered.append("without it")  # SQLite's own lock decides now
        assert entered == ["without it"]
        other.kill()  # the kernel takes the lock from the dead
        other.wait()
        # the wait that was left behind must not keep it either
        again = FileLock(path)
        deadline = time.monotonic() + 30
        while not again._take(0.05):
            assert time.monotonic() < deadline
        again.close()
        lock.close()
