"""Where trials come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tunewright.store.provenance import capture


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_commit_and_uncommitted_changes_are_captured(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "train.py").write_text("rate = 1\n")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-q", "-m", "first")
    clean = capture(folder=tmp_path)
    assert len(clean.commit) == 40 and clean.diff == "" and clean.diff_sha256 == ""
    (tmp_path / "train.py").write_text("rate = 2\n")
    (tmp_path / "new.py").write_text("")
    dirty = capture(folder=tmp_path, devices=["cuda:0"])
    assert dirty.commit == clean.commit and "+rate = 2" in dirty.diff
    assert dirty.untracked == ("new.py",) and dirty.devices == ("cuda:0",)
    (tmp_path / "train.py").write_text("x\n" * 300_000)
    long = capture(folder=tmp_path)
    assert len(long.diff) < 210_000 and "left out" in long.diff
    assert long.diff_sha256 != dirty.diff_sha256


def test_without_a_repository_the_rest_is_known(tmp_path: Path) -> None:
    here = capture(folder=tmp_path, packages=["pytest", "no-such-package"])
    assert here.commit == "" and here.folder == str(tmp_path)
    assert {"tunewright", "numpy", "pytest"} <= set(here.packages)
    assert "no-such-package" not in here.packages
    assert here.python and here.host and here.system and here.command
