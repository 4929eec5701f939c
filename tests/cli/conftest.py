"""A small project in a folder of its own, and a way to call commands in it."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, TRAIN, Answer, Tunewright

from tunewright.cli.main import main


@pytest.fixture
def tunewright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tunewright:
    """Call a command in an empty folder, as the shell would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COLUMNS", "180")

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        sys.modules.pop("train", None)  # every command is a process of its own
        code = main(arguments)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def project(tunewright: Tunewright, tmp_path: Path) -> Path:
    """A project whose round `layers` can be run."""
    (tmp_path / "train.py").write_text(TRAIN)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND)
    return tmp_path


@pytest.fixture(scope="session")
def ran_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run, for `ran` to copy."""
    folder = tmp_path_factory.mktemp("ran_once")
    (folder / "train.py").write_text(TRAIN)
    (folder / "rounds").mkdir()
    (folder / "rounds" / "layers.toml").write_text(ROUND)
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "path", [*sys.path])
        assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
        assert main(["run", "layers", "--on", "inline"]) == 0
    sys.modules.pop("train", None)
    return folder


@pytest.fixture
def ran(tunewright: Tunewright, tmp_path: Path, ran_once: Path) -> Path:
    """The project after its round was run."""
    shutil.copytree(ran_once, tmp_path, dirs_exist_ok=True)
    return tmp_path
