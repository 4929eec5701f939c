"""Case 18: a read-only folder, or a file system without locks, is refused with a reason."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.quick_rounds import REPETITIONS, asked, check, lines, workload
from tests.faults.small_disk import remount, small_disk

import tunewright as tw
from tunewright.errors import StoreError
from tunewright.store.address import NETWORK, file_system

OPENS = """
import os, sys
from tunewright.errors import StoreError
from tunewright.store.store import Store
Store.open(sys.argv[2]).close()  # everything it needs is imported now
os.setuid(int(sys.argv[3]))
try:
    Store.open(sys.argv[1])
except StoreError as refused:
    print(refused)
"""


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_18_read_only_disk(tmp_path, repetition):
    with small_disk(tmp_path / "disk", 80) as disk:
        journal, store = tmp_path / "journal", disk / "tuning.db"
        round, work = asked(journal, 3), workload(store)
        check(tw.run(round, work), journal, 3)
        more = asked(journal, 5)
        remount(disk, "ro")
        for use in (lambda: tw.run(more, work), lambda: tw.load(store, round.name)):
            with pytest.raises(StoreError, match=r"read-only.*write-ahead log.*PostgreSQL"):
                use()
        assert len(lines(journal)) == 6, "nothing was trained"
        remount(disk, "rw")
        check(tw.run(more, work), journal, 5)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_case_18_folder_of_another_user(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    for parent in folder.parents:  # the temporary folder is root's alone
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    nobody = pwd.getpwnam("nobody").pw_uid
    done = subprocess.run(
        [sys.executable, "-c", OPENS, folder / "tuning.db", tmp_path / "own.db", str(nobody)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "read-only" in done.stdout and "PostgreSQL" in done.stdout
    assert list(folder.iterdir()) == [], "nothing was written"


def test_case_18_network_file_systems_are_known_by_name():
    """No network file system can be mounted here: what the kernel would say of one is read."""
    for kind in NETWORK:
        mounts = f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /net/my\\040data rw - {kind} s rw"
        assert file_system(Path("/net/my data/tuning.db"), mounts) == kind
    assert file_system(Path(__file__)) not in NETWORK
