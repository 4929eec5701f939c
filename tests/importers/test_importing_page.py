"""The page about importing runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.importers.test_ray_tune import write_state, write_trial
from tests.importers.test_real_files import unpacked

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


# where the page looks for what a tool wrote; the first two archives hold that folder themselves
FOLDERS = {
    "mlflow": (".", "3.18.0"),
    "wandb": (".", "0.31.0"),
    "trackio": ("trackio", "0.43.0"),
    "swanlab": ("swanlog", "0.10.3"),
    "tensorboard": ("runs", "2.21.0"),
}


def make_files(folder: Path) -> None:
    """What the tools of the page wrote: files of the real libraries, and Ray's as Ray has them."""
    for tool, (inside, version) in FOLDERS.items():
        unpacked(folder / inside, tool, version)
    for place, rate in enumerate((0.1, 0.3)):
        write_trial(folder / "ray_results", place, {"lr": rate}, [1.0, rate])
    write_state(folder / "ray_results", t00000="TERMINATED", t00001="TERMINATED")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    make_study()
    make_files(tmp_path)
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
