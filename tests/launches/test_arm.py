"""What an arm knows of its runs: the code they came from, by the program's own files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.launches.arms import arm

import tunewright as tw
from tunewright.launches.arm import Arm, other_code
from tunewright.launches.decide import claim_of

PROGRAM = """
def train(run, learning_rate, max_train_steps=20):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=(learning_rate - 0.1) ** 2 + run.seeds.init % 97 / 1e4)
"""


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def program(folder: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location("trained_here", folder / "trained_here.py")
    assert found is not None and found.loader is not None
    made = importlib.util.module_from_spec(found)
    sys.modules["trained_here"] = made
    found.loader.exec_module(made)
    return made


def repeated(folder: Path, name: str, rate: float) -> Arm:
    workload = tw.Workload(
        program(folder).train,
        tw.minimize("valid_error"),
        store="t.db",
        executor=tw.executors.Inline(),
    )
    asked = tw.Round(name, goal="?", fixed={"learning_rate": rate}, trials_per_study=1)
    return Arm.of(tw.repeat(tw.run(asked, workload).trial(0), workload, times=2))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "trained_here", ModuleType("trained_here"))
    (tmp_path / "trained_here.py").write_text(PROGRAM)
    (tmp_path / ".gitignore").write_text("t.db*\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "program")
    return tmp_path


def test_a_commit_of_another_file_is_no_other_code(folder: Path) -> None:
    before = repeated(folder, "a", 0.3)
    (folder / "full_evaluation.py").write_text("print('not imported by the program')\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "an evaluation script")
    after = repeated(folder, "b", 0.2)
    assert after.by_files and before.code and not other_code(after, before)
    claim, why = claim_of(after, before)
    assert (claim, why.code != "launch.claim_other_code") == ("hyperparameters", True)


def test_an_edit_of_the_program_is_other_code(folder: Path) -> None:
    before = repeated(folder, "a", 0.3)
    (folder / "trained_here.py").write_text(PROGRAM.replace("** 2", "** 4"))
    after = repeated(folder, "b", 0.2)
    assert other_code(after, before)
    assert claim_of(after, before)[1].code == "launch.claim_other_code"


def test_files_are_not_compared_with_commits() -> None:
    files = arm((0.9, 0.8), code=frozenset({"abc"}), by_files=True)
    commits = arm((0.9, 0.8), "baseline", code=frozenset({"def"}))
    assert not other_code(files, commits)
