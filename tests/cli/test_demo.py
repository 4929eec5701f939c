from __future__ import annotations

import importlib.util
import json
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from small_project import Tunewright

from tunewright.cli.demo import ROUND, ROUND_TEXT, write_project
from tunewright.cli.project_folder import find_project

pytest.importorskip("torch")
pytest.importorskip("sklearn")


def shortened(folder: Path) -> None:
    """The demo's project with a round of two short trials."""
    write_project(folder)
    path = folder / "rounds" / f"{ROUND}.toml"
    text = path.read_text().replace("trials_per_study = 12", "trials_per_study = 1")
    path.write_text(text.replace("max_train_steps = 500", "max_train_steps = 30"))


def test_the_demo_ends_in_the_best_the_table_and_what_next(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    shortened(tmp_path / "tunewright-demo")
    answer = tunewright("demo")
    assert answer.code == 0, answer.err
    for expected in (
        "The demo's project is tunewright-demo/",
        "best configuration: hidden_layers ",
        "goal, and how to find it again",
        "Does a second hidden layer lower the validation error?",
        "cd tunewright-demo",
        "tunewright show depth",
        "tunewright check depth",
    ):
        assert expected in answer.out
    again = tunewright("demo")
    assert again.code == 0
    assert "begins" not in again.err


@pytest.mark.slow
def test_the_whole_demo_compares_two_depths_and_meets_divergence(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    assert tunewright("demo", "digits").code == 0
    store = str(tmp_path / "digits" / "tuning.db")
    data = json.loads(tunewright("show", ROUND, "--json", "--store", store).out)
    assert data["counts"]["completed"] >= 16
    assert data["counts"]["infeasible"] >= 2
    assert sum(data["counts"].values()) == 24
    best = min(t["value"] for t in data["trials"] if t["value"] is not None)
    assert best < 0.04


def test_what_somebody_changed_is_kept(tmp_path: Path) -> None:
    write_project(tmp_path / "demo")
    (tmp_path / "demo" / "train.py").write_text("# mine\n")
    write_project(tmp_path / "demo")
    assert (tmp_path / "demo" / "train.py").read_text() == "# mine\n"
    project = find_project(tmp_path / "demo")
    assert project is not None
    assert project.round(ROUND).trials == 24
    assert "hidden_layers" in ROUND_TEXT


def test_a_folder_of_something_else_is_left_alone(tunewright: Tunewright, tmp_path: Path) -> None:
    (tmp_path / "tunewright-demo").mkdir()
    (tmp_path / "tunewright-demo" / "thesis.txt").write_text("precious")
    answer = tunewright("demo")
    assert answer.code == 2
    assert "is not the demo's" in answer.err
    assert [p.name for p in (tmp_path / "tunewright-demo").iterdir()] == ["thesis.txt"]


def test_a_missing_package_is_named_with_its_extra(
    tunewright: Tunewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without_sklearn(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "sklearn" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_sklearn)
    answer = tunewright("demo")
    assert answer.code == 2
    assert "scikit-learn: pip install 'tunewright[demo]'" in answer.err
    assert not (tmp_path / "tunewright-demo").exists()
