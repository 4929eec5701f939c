"""A small project in a folder of its own, and a way to call commands in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tunewright.cli.main import main

TRAIN = '''
import math


def train(run, learning_rate, layers=1, max_train_steps=20):
    """Best at learning_rate 0.1, better with more layers, diverges above 0.5."""
    for step in run.steps(max_train_steps):
        loss = abs(math.log10(learning_rate) + 1) + 1 / step
        if learning_rate > 0.5:
            loss = float("nan")
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=loss / layers)
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 4
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
"""


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Tunewright = Callable[..., Answer]


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


@pytest.fixture
def ran(project: Path, tunewright: Tunewright) -> Path:
    """The project after its round was run."""
    answer = tunewright("run", "layers", "--on", "inline")
    assert answer.code == 0, answer.err
    return project
