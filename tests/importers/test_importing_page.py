"""The page about importing runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tunewright.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "importing.md"
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


def make_study() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def train(trial: Any) -> float:
        rate: float = trial.suggest_float("lr", 1e-5, 1.0, log=True)
        trial.suggest_categorical("optimizer", ["adam", "sgd"])
        for step in (1, 2):
            trial.report(abs(rate - 0.1) + 1 / step, step)
        return abs(rate - 0.1) + 0.5

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage="sqlite:///optuna.db", study_name="rates", sampler=sampler)
    study.optimize(train, n_trials=12)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    make_study()
    names: dict[str, Any] = {}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 4
    for kind, body in blocks:
        if kind == "python":
            exec(compile(body, str(PAGE), "exec"), names)
            continue
        for line in body.splitlines():
            if line.startswith("$ tunewright "):
                assert main(shlex.split(line)[2:]) in (0, 1), line
