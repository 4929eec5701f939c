"""The training program of docs/worked_example.md, on a few steps of the real data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.campaigns.tune import tune
from tunewright.design.round_file import read_round
from tunewright.design.workload_file import read_workload

pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "worked_example"
DATA = ROOT.parent / "shared" / "data" / "fashion-mnist" / "fashion20k.npz"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example's own file, told where the images are."""
    if not DATA.exists():
        pytest.skip("Fashion-MNIST is not here")
    monkeypatch.setenv("FASHION_MNIST", str(DATA))
    spec = importlib.util.spec_from_file_location("worked_example_train", EXAMPLE / "train.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "worked_example_train", module)
    spec.loader.exec_module(module)
    return module


def test_a_few_trials_of_it_end_in_a_choice_and_a_look_at_the_test_set(
    program: Any, tmp_path: Path
) -> None:
    asked = read_round(EXAMPLE / "rounds" / "tune.toml")
    settings = read_workload(EXAMPLE / "tunewright.toml")
    workload = tw.Workload(
        program.train,
        settings["objective"],
        store=tmp_path / "tuning.db",
        executor=tw.executors.Inline(),
        means=settings["means"],
        off=settings["off"],
    )
    space = {**asked.nuisance, **asked.fixed, "max_train_steps": 50, "width": 16}
    campaign = tune(workload, space, trials=4, test=program.test)
    assert campaign.winner is not None
    assert campaign.winner.trial.value is not None and campaign.winner.trial.value < 0.9
    (look,) = campaign.looks
    assert 0.0 < look.metrics["test_error"] < 0.9


def test_the_page_shows_what_is_in_the_folder() -> None:
    page = (ROOT / "docs" / "worked_example.md").read_text(encoding="utf-8")
    assert (EXAMPLE / "rounds" / "tune.toml").read_text(encoding="utf-8").strip() in page
    report = (EXAMPLE / "report.txt").read_text(encoding="utf-8")
    for line in report.splitlines()[1:7]:  # the choice, the launch, the test set, what was spent
        assert line in page, line
