from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.cli._options import find_project
from tunewright.cli.demo import CAMPAIGN, REPORT, ROUND, write_project

pytest.importorskip("torch")
pytest.importorskip("sklearn")


def shortened(folder: Path) -> None:
    """The demo's project with trainings of 20 steps."""
    write_project(folder)
    path = folder / "rounds" / f"{CAMPAIGN}.toml"
    path.write_text(path.read_text().replace("width = 64", "width = 8\nmax_train_steps = 20"))


@pytest.mark.beyond_core
def test_the_demo_ends_in_a_choice_a_report_and_what_next(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    shortened(tmp_path / "tunewright-demo")
    answer = tunewright("demo", "--trials", "9", "--workers", "1")
    assert answer.code == 0, answer.err
    for expected in (
        "The demo's project is tunewright-demo/",
        "step 1  baseline",
        "step 2  explore",
        "the current default: learning_rate=0.01",
        f"report: tunewright-demo/{REPORT}",
        "cd tunewright-demo",
        "tunewright ui",
        f"tunewright run {ROUND}",
    ):
        assert expected in answer.out
    page = (tmp_path / "tunewright-demo" / REPORT).read_text(encoding="utf-8")
    assert "All its trials together" in page
    assert "tw.repeat(" not in page and "tw.run(" not in page, "a page of the shell has commands"
    again = tunewright("demo", "--trials", "9", "--workers", "1")
    assert again.code == 0
    assert "begins" not in again.err


@pytest.mark.slow
def test_the_whole_demo_probes_explores_exploits_launches_and_tests(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    answer = tunewright("demo", "digits")
    assert answer.code == 0, answer.err
    for kind in ("probe", "baseline", "explore", "exploit", "repeat", "launch", "test"):
        assert f"  {kind}" in answer.out, kind
    store = str(tmp_path / "digits" / "tuning.db")
    rounds = tunewright("ls", "--json", "--store", store).data["rounds"]
    best = min(line["best"]["value"] for line in rounds if line["best"] is not None)
    assert best < 0.03
    trials = tunewright("show", "tune_2_explore", "--json", "--store", store).data
    assert trials["counts"]["infeasible"] >= 2
    assert "It beats the baseline" in answer.out
    assert "of 100 trials used" in answer.out


def test_what_somebody_changed_is_kept(tmp_path: Path) -> None:
    write_project(tmp_path / "demo")
    (tmp_path / "demo" / "train.py").write_text("# mine\n")
    write_project(tmp_path / "demo")
    assert (tmp_path / "demo" / "train.py").read_text() == "# mine\n"
    project = find_project(tmp_path / "demo")
    assert project is not None
    assert project.round(ROUND).trials == 24
    assert "hidden_layers" in project.round(CAMPAIGN).names


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
