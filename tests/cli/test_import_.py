"""`tunewright import` takes a round over; the reading commands then work on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

TABLE = """lr,optimizer,dropout,val_loss
0.001,adam,0.1,0.9
0.01,adam,0.1,0.7
0.1,sgd,0.1,0.5
1.0,sgd,0.1,nan
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "runs.csv").write_text(TABLE)
    return "runs.csv"


def test_a_real_optuna_file_in_two_commands(tunewright: Tunewright, tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = f"sqlite:///{tmp_path}/optuna.db"
    study = optuna.create_study(
        storage=url, study_name="rates", sampler=optuna.samplers.RandomSampler(seed=1)
    )
    study.optimize(lambda t: (t.suggest_float("lr", 1e-4, 1, log=True) - 0.1) ** 2, n_trials=20)
    answer = tunewright("import", "optuna", url, "--search", "random")
    assert answer.code == 0, answer.err
    assert "rates: imported from the Optuna study 'rates', kept in " in answer.out
    assert "20 trials: 20 completed" in answer.out and "lr log(0.0001, 1)" in answer.out
    assert "next: tunewright check rates" in answer.out
    assert tunewright("check", "rates").code in (0, 1)
    shown = tunewright("show", "rates", "--json").data
    best = min(shown["trials"], key=lambda t: t["value"])
    assert best["value"] == study.best_value and best["configuration"] == study.best_params
    assert tunewright("ls").code == 0
    assert tunewright("trial", "rates", "3").code == 0
    again = tunewright("import", "optuna", url)
    assert again.code == 2 and "in the database already" in again.err
    assert tunewright("import", "optuna", url, "rates", "--name", "rates2").code == 0


def test_roles_ranges_and_meanings_can_be_said(tunewright: Tunewright, table: str) -> None:
    answer = tunewright(
        "import", "table", table, "--minimize", "val_loss", "--scientific", "optimizer",
        "--range", "lr = log(1e-5, 10)", "--leave-out", "dropout", "--means", "learning_rate=lr",
        "--name", "mine", "--last",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    shown = tunewright("show", "mine", "--json").data
    assert shown["round"]["scientific"] == {"optimizer": ["adam", "sgd"]}
    assert shown["round"]["nuisance"] == {"lr": {"log": [1e-05, 10.0]}}
    assert shown["round"].get("fixed", {}) == {}
    assert shown["objective"]["at"] == "last"
    assert shown["counts"] == {"completed": 3, "infeasible": 1}


def test_folders_of_other_tools(tunewright: Tunewright, tmp_path: Path) -> None:
    for place in (1, 2):
        folder = tmp_path / "exp" / f"train_{place}"
        folder.mkdir(parents=True)
        (folder / "params.json").write_text(json.dumps({"lr": 0.1 * place}))
        (folder / "result.json").write_text(json.dumps({"loss": place, "training_iteration": 3}))
    answer = tunewright("import", "ray", "exp", "--minimize", "loss", "--search", "grid")
    assert answer.code == 0, answer.err
    assert "2 trials: 2 completed. Best 1 loss, trial 1 at step 3: lr 0.1" in answer.out
    (tmp_path / "runs.csv").write_text("Name,State,lr,val_loss\na,finished,0.1,2\nb,failed,0.2,\n")
    answer = tunewright("import", "wandb", "runs.csv", "--minimize", "val_loss")
    assert answer.code == 0 and "2 trials: 1 completed, 1 failed" in answer.out
    assert {row["name"] for row in tunewright("ls", "--json").data["rounds"]} == {"exp", "runs"}


def test_wrong_use_is_told(tunewright: Tunewright, table: str) -> None:
    cases = {
        ("optunna", table): "import optuna",
        ("table", table): "which metric",
        ("table", table, "--minimize", "val_los"): "Did you mean 'val_loss'",
        ("table", table, "--minimize", "val_loss", "--range", "lr"): "not a name and a range",
        ("table", table, "--minimize", "val_loss", "--range", "lr=log(1)"): "a low and a high",
        ("table", table, "--minimize", "val_loss", "--means", "lr"): "not MEANING=NAME",
        ("table", table, "--minimize", "a", "--maximize", "b"): "one of --minimize",
        ("table", table, "--fixed", "lr", "--scientific", "lr"): "given two roles",
        ("ray", ".", "x", "--minimize", "loss"): "takes one address",
        ("ray", ".", "--minimize", "loss"): "holds no trials",
        ("tensorboard", ".", "--minimize", "loss"): "holds no event files",
        ("mlflow", ".", "--minimize", "loss"): "holds no MLflow runs",
        ("wandb", ".", "--minimize", "loss"): "holds no run of W&B",
        ("table", "nothing.csv", "--minimize", "val_loss"): "no table at nothing.csv",
    }
    for arguments, expected in cases.items():
        answer = tunewright("import", *arguments)
        assert answer.code == 2, (arguments, answer)
        assert expected in answer.err, (arguments, answer.err)
    assert not Path("tuning.db").exists(), "nothing is written by a command used wrongly"


def test_the_command_after_an_import(tunewright: Tunewright, tmp_path: Path) -> None:
    rows = "\n".join(f"{10 ** (-4 + 3 * n / 24)},{abs(n - 26)}" for n in range(24))
    (tmp_path / "runs.csv").write_text(f"lr,val_loss\n{rows}\n")
    answer = tunewright(
        "import", "table", "runs.csv", "--minimize", "val_loss", "--range", "lr = log(1e-4, 1e-1)",
        "--search", "random",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    data = tunewright("next", "runs", "--json").data
    kinds = [action["kind"] for one in data["proposals"] for action in one["actions"]]
    assert kinds and set(kinds) <= {"advise", "show_trial", "show_round", "check"}
    assert data["next"][0]["code"] == "connect_program"
    page = tunewright("next", "runs")
    assert page.code == 0 and "lr" in page.out.splitlines()[-1]
