"""Where trials come from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tunewright.errors import Damaged
from tunewright.store.provenance import (
    Provenance,
    capture,
    digest,
    files_between_commits,
    from_payload,
    gpu_names,
    prefix_of,
)


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
    dirty = capture(folder=tmp_path)
    assert dirty.commit == clean.commit and "+rate = 2" in dirty.diff
    assert dirty.untracked == ("new.py",)
    (tmp_path / "train.py").write_text("x\n" * 300_000)
    long = capture(folder=tmp_path)
    assert len(long.diff) < 210_000 and "left out" in long.diff
    assert long.diff_sha256 != dirty.diff_sha256


def test_without_a_repository_the_rest_is_known(tmp_path: Path) -> None:
    here = capture(folder=tmp_path)
    assert here.commit == "" and here.folder == str(tmp_path)
    assert {"tunewright", "numpy"} <= set(here.packages), "packages that are not there are left out"
    assert here.python and here.host and here.system and here.command


def test_files_between_two_commits_and_the_place_in_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "work").mkdir()
    commits = []
    for text in ("one", "two"):
        (tmp_path / "work" / "train.py").write_text(text)
        (tmp_path / "odd name.py").write_text("same")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", text)
        commits.append(capture(folder=tmp_path).commit)
    assert files_between_commits(str(tmp_path), *commits) == ("work/train.py",)
    assert files_between_commits(str(tmp_path), commits[0], commits[0]) == ()
    assert files_between_commits(str(tmp_path), commits[0], "0" * 40) is None
    assert files_between_commits(str(tmp_path / "gone"), *commits) is None
    assert prefix_of(str(tmp_path)) == ""
    assert prefix_of(str(tmp_path / "work")) == "work/"
    assert prefix_of(str(tmp_path / "gone")) == ""


def test_a_payload_comes_back_and_an_altered_one_is_damaged() -> None:
    own = Provenance(
        folder="f", commit="c", diff="", diff_sha256="", command="x", sources={"a.py": "1"}
    )
    assert from_payload(own.payload) == own
    assert own.program == digest({"a.py": "1"}) != digest({"a.py": "2"}) != digest({}) == ""
    newer = {**json.loads(own.payload), "a_field_of_tomorrow": 1}
    assert from_payload(json.dumps(newer)) == own
    for altered in ("[1]", "7", "{", '{"commit": "c"'):
        with pytest.raises(Damaged):
            from_payload(altered)


def test_without_git_the_commit_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert capture(folder=tmp_path).commit == ""
    assert files_between_commits(str(tmp_path), "a", "b") is None


@pytest.mark.parametrize(
    "visible, expected",
    [
        (None, ("NVIDIA A100-SXM4-80GB", "NVIDIA H200")),
        ("1", ("NVIDIA H200",)),
        ("1,0", ("NVIDIA H200", "NVIDIA A100-SXM4-80GB")),
        ("7", ()),
        ("", ()),
        ("GPU-0a1b", ("NVIDIA A100-SXM4-80GB", "NVIDIA H200")),
    ],
)
def test_gpus_are_named_by_the_files_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: tuple[str, ...]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for bus, model in (("0000:19:00.0", "NVIDIA A100-SXM4-80GB"), ("0000:3b:00.0", "NVIDIA H200")):
        (tmp_path / bus).mkdir()
        text = f"Model: \t\t {model}\nIRQ:   \t\t 42\nGPU UUID: \t GPU-0a1b\n"
        (tmp_path / bus / "information").write_text(text)
    (tmp_path / "0000:5e:00.0").mkdir()  # a device that the driver does not describe
    assert gpu_names(tmp_path, visible) == expected
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert gpu_names(tmp_path) == expected


def test_a_machine_without_gpus_names_none(tmp_path: Path) -> None:
    assert gpu_names(tmp_path / "absent") == ()
