"""The verb `sync` by both doors, sinks of a round that runs, and the page that explains them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sinks import contract

import tunewright as tw
from tunewright.cli.main import main
from tunewright.design.workload_file import Sink
from tunewright.errors import DesignError
from tunewright.present.envelope import plain
from tunewright.sinks import sync

pytestmark = pytest.mark.beyond_core
ROOT = Path(__file__).parents[2]


def test_no_sink_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as refused:
        sync(tmp_path / "none.db", "lr", [])
    assert refused.value.code == "sink.no_sink"


def test_both_doors_write_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard")
    store = contract.recorded(tmp_path, trials=3)
    sink = f"tensorboard:{tmp_path / 'runs'}"
    capsys.readouterr()
    assert main(["sync", "lr", "--sink", sink, "--store", store, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data == plain(list(sync(store, "lr", sink)))
    assert data[0]["written"] == 3 and data[0]["left"] == 0


def train(run, learning_rate, max_train_steps=10):  # type: ignore[no-untyped-def]
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=0.3 + learning_rate / step)


def test_a_tracker_that_fails_costs_no_trial(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "runs").write_text("a file where the folder should be")
    asked = tw.Round(
        "lr",
        goal="which?",
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        fixed={"max_train_steps": 10},
        trials_per_study=5,
        seed=0,
    )
    sink = f"tensorboard:{tmp_path / 'runs'}"
    store = tmp_path / "tuning.db"
    workload = tw.Workload(
        train, contract.OBJECTIVE, store=store, executor=tw.executors.Inline(), sinks=[sink]
    )
    results = tw.run(asked, workload, progress="off")
    assert results.counts == {"completed": 5}
    (tmp_path / "runs").unlink()
    (answer,) = sync(store, "lr", sink)
    assert answer.whole and answer.written == 5


@pytest.mark.parametrize("tool", ["mlflow", "tensorboard", "trackio", "wandb", "swanlab"])
def test_runs_are_grouped_by_round_and_study(tool: str, tmp_path: Path) -> None:
    """Both names are in what the tracker wrote for each run."""
    pytest.importorskip(tool)
    store = str(tmp_path / "tuning.db")
    asked = tw.Round(
        "which-optimizer",
        goal="which?",
        scientific={"optimizer": tw.choice("adam", "sgd")},
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        trials_per_study=1,
    )
    with tw.open_round(asked, contract.OBJECTIVE, store=store) as session:
        while (trial := session.ask()) is not None:
            trial.log(1, valid_error=0.5)
            trial.finish()
    contract.caught_up(store, Sink(tool, str(tmp_path / "out")), "which-optimizer")
    files = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    for study in tw.load(store, "which-optimizer").round.studies:
        assert study.label and any(study.label.encode() in one for one in files), study.label
    assert any(b"which-optimizer" in one for one in files)


def test_the_page_runs(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    text = (ROOT / "docs" / "sinks.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    program = tmp_path / "page.py"
    program.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
