"""`tunewright receipt`, `verify` and `agents`: both doors agree; launches are decided again."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from tests.cli.small_project import Tunewright

import tunewright as tw
from tunewright.present.envelope import plain
from tunewright.receipts.receipt import SEAL, seal

pytestmark = pytest.mark.beyond_core  # it trains


def train(run: Any, learning_rate: float, layers: int = 1, max_train_steps: int = 40) -> None:
    noise = random.Random(run.seeds.init + layers)
    luck = noise.gauss(0, 0.004)
    for step in run.steps(max_train_steps):
        loss = 0.1 * (math.log10(learning_rate) + 1.5) ** 2 + 1 / step
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=0.3 + loss - 0.02 * layers + luck + noise.gauss(0, 1e-4))


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a round that was launched."""
    store = tmp_path_factory.mktemp("launched") / "tuning.db"
    workload = tw.Workload(
        train, tw.minimize("valid_error"), store=store, executor=tw.executors.Inline()
    )
    round = tw.Round(
        "layers",
        goal="Do more layers help?",
        scientific={"layers": [1, 2]},
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        fixed={"max_train_steps": 40},
        trials_per_study=8,
    )
    report = tw.launch(
        tw.run(round, workload, progress="off"),
        workload,
        terms=tw.launches.LaunchTerms(claim="hyperparameters"),
        progress="off",
    )
    assert report.decision is not None and report.recorded is not None, report
    return store


def test_both_doors_agree(ran: Path, tunewright: Tunewright) -> None:
    made = tunewright("receipt", "layers", "--json")
    assert made.code == 0 and made.data["file"] == "layers.receipt.json"
    python = tw.receipts.verify(ran / "layers.receipt.json")
    shell = tunewright("verify", "layers.receipt.json", "--json")
    assert shell.code == (0 if python.ok else 1)
    assert plain(python) == shell.data
    assert str(python.headline) in tunewright("verify", "layers.receipt.json").out


def test_a_launch_is_decided_again(launched: Path) -> None:
    data = json.loads(json.dumps(tw.receipts.receipt(launched, "layers")))
    found = tw.receipts.verify(data)
    assert found.launches == 1 and found.not_derived == 0
    assert found.disagreements == () and found.malpractice == ()
    (one,) = data["launches"]
    one["decision"]["probability"] = 0.999
    data[SEAL] = seal(data)
    (wrong,) = tw.receipts.verify(data).disagreements
    assert wrong.what == "launch" and wrong.about.endswith("probability")


def test_a_best_of_history_value_is_named(launched: Path) -> None:
    data = json.loads(json.dumps(tw.receipts.receipt(launched, "layers")))
    (one,) = data["launches"]
    number = one["baseline"]["trial"]
    own = next(t for t in data["trials"] if t["number"] == number)
    one["decision"]["baseline_values"][0] = own["value"]
    data[SEAL] = seal(data)
    (fault,) = tw.receipts.verify(data).malpractice
    assert fault.kind == "best_of_history" and fault.facts["selected"] is True


def test_a_bad_file_is_an_error_with_a_code(project: Path, tunewright: Tunewright) -> None:
    missing = tunewright("verify", "none.json", "--json")
    assert missing.code == 2 and missing.error["code"] == "receipt.no_file"
    unknown = tunewright("receipt", "nothing", "--json")
    assert not unknown.envelope["ok"]


def test_agents_install(project: Path, tunewright: Tunewright) -> None:
    (project / "AGENTS.md").write_text("mine\n")
    refused = tunewright("agents", "install", "--json")
    assert refused.code == 2 and refused.error["code"] == "agents.would_change"
    made = tunewright("agents", "install", "--yes", "--json").data["files"]
    assert [one["did"] for one in made] == ["added", "written"]
    assert plain(tw.agents.install(project))[0]["did"] == "unchanged"
