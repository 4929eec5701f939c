"""The queue in front of SQLite's write lock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tunewright.store import database
from tunewright.store.database import FileLock, _holders_of

HOLDER = """
import sys
from pathlib import Path
from tunewright.store.database import FileLock
with FileLock(Path(sys.argv[1])).hold(60):
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
            with lock.hold(60):
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
        with lock.hold(0.1):
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


def test_the_file_is_private_even_if_an_older_version_made_it(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.touch(0o644)
    path.chmod(0o644)
    FileLock(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_holders_of_a_lock_are_named(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "x.lock")
    assert _holders_of(lock._descriptor) == []
    with lock.hold(1.0):
        assert _holders_of(lock._descriptor) in ([os.getpid()], [])  # [] where /proc is hidden
    lock.close()
    assert _holders_of(lock._descriptor) == []  # a closed file has none


def test_a_second_wait_in_vain_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "AGAIN_S", 0.0)  # each wait is a wait, not only a try
    path = tmp_path / "x.lock"
    holder, waiting = FileLock(path), FileLock(path)
    with holder.hold(1.0):
        for times in range(1, 5):
            entered = False
            with waiting.hold(0.01):
                entered = True
            assert entered
            assert len(caplog.records) == (times >= database._WARN_AT)
    assert "x.lock" in caplog.text
    holder.close()
    waiting.close()


def test_after_a_wait_in_vain_the_file_is_only_tried(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder, waiting = FileLock(path), FileLock(path)
    with holder.hold(1.0):
        assert not waiting._take(0.01)
        assert waiting._blocked_until > time.monotonic()
        assert not waiting._take(3600.0)  # it would take an hour if it waited
    holder.close()
    waiting.close()
