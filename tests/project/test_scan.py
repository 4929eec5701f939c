"""`init --scan` reads a program, proposes roles and ranges, and writes files that load."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli.main import main
from tunewright.errors import Misuse
from tunewright.present.envelope import plain

PROGRAM = """
import argparse, random
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--weight-decay", type=float, default=0.0)
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--test-batch-size", type=int, default=100)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--hidden-dim", type=int, default=4)
parser.add_argument("--nesterov", action="store_true")
parser.add_argument("--foo", type=int, default=1)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--output-dir", default="out")
parser.add_argument("--log-interval", type=int, default=10)
asked = parser.parse_args()
rng = random.Random(asked.seed)
for epoch in range(1, asked.epochs + 1):
    print(f"epoch {epoch}: val loss {asked.lr + 1 / epoch + rng.random() / 1000:.4f}")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_roles_ranges_and_what_is_never_tuned(folder: Path) -> None:
    found = tw.project.scan("train.py", minimize="val_loss", write=False)
    assert not (folder / "tunewright.toml").exists()
    assert found.roles() == {
        **{"lr": "nuisance", "weight_decay": "nuisance", "momentum": "nuisance"},
        **{"batch_size": "fixed", "test_batch_size": "none", "epochs": "fixed"},
        **{"hidden_dim": "scientific", "nesterov": "scientific", "foo": "unknown"},
        **{"seed": "seed", "output_dir": "folder", "log_interval": "none"},
    }
    never = {one.name for one in found.options if one.never}
    assert never == {"batch_size", "test_batch_size", "epochs", "seed"}
    ranges = {one.name: str(one.range) for one in found.options if one.range}
    assert ranges["lr"] == "log(0.01, 1)"
    assert set(ranges) == {"lr", "weight_decay", "momentum"}
    assert "--seed={run.seed}" in found.command and "--output-dir={run.folder}" in found.command
    assert "foo" not in found.command and "log" not in found.command


def test_the_files_load_and_nothing_is_overwritten(folder: Path) -> None:
    (folder / "rounds").mkdir()
    (folder / "rounds" / "first.toml").write_text("mine")
    found = tw.project.scan("python train.py --epochs 2", minimize="val_loss")
    assert [path.name for path in found.written] == ["tunewright.toml"]
    assert (folder / "rounds" / "first.toml").read_text() == "mine"
    project = tw.project.load(folder)
    assert project.workload().meaning.name("learning_rate") == "lr"
    assert "epochs" not in project.hyperparameters, "the given words keep it"
    assert project.settings["booleans"] == {"nesterov": "flag"}
    (folder / "rounds" / "first.toml").write_text(found.round_text)
    assert set(project.round("first").nuisance) == {"lr", "momentum"}, "what 20 trials pay for"
    with pytest.raises(Misuse) as error:
        tw.project.scan("train.py", minimize="val_loss")
    assert error.value.code == "project.file_exists"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("absent.py", "scan.no_program"),
        ("make all", "scan.not_a_program"),
        ("python 'train.py", "scan.not_a_command"),
    ],
)
def test_what_names_no_program_is_refused(folder: Path, program: str, code: str) -> None:
    with pytest.raises(Misuse) as error:
        tw.project.scan(program, minimize="val_loss")
    assert error.value.code == code and not (folder / "tunewright.toml").exists()


def test_a_required_value_is_left_to_the_user(folder: Path) -> None:
    text = PROGRAM.replace("asked = ", "parser.add_argument('data')\nasked = ")
    (folder / "train.py").write_text(text)
    found = tw.project.scan("train.py", minimize="val_loss", write=False)
    assert found.required == ("data",)
    with pytest.raises(Misuse) as error:
        tw.project.scan("train.py", minimize="val_loss", try_s=5, write=False)
    assert error.value.code == "scan.cannot_try"
    given = tw.project.scan("python train.py here", minimize="val_loss", write=False)
    assert given.required == () and "train.py here" in given.command


def test_both_doors_say_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = plain(tw.project.scan("train.py", minimize="val_loss", write=False))
    assert main(["init", "train.py", "--scan", "--minimize", "val_loss", "--json"]) == 0
    shell = json.loads(capsys.readouterr().out)["data"]
    assert shell.pop("next")[0]["argv"] == ["tunewright", "run", "first", "--dry-run"]
    python.pop("written"), shell.pop("written")
    python = json.loads(json.dumps(python, default=str))
    assert python["options"] == shell["options"] and python["command"] == shell["command"]
    assert (folder / "tunewright.toml").read_text() == shell["workload_text"]
    (folder / "tunewright.toml").unlink()
    assert main(["init", "train.py", "--scan", "--minimize", "val_loss"]) == 0
    assert "hidden_dim" in capsys.readouterr().out


def test_nothing_shows_how_a_metric_is_read(folder: Path) -> None:
    def codes(program: str) -> list[str]:
        scan = tw.project.scan(program, minimize="val_loss", write=False)
        return [note.code for note in scan.notes]

    assert "scan.not_tried" in codes("train.py")
    (folder / "prints_json.py").write_text(PROGRAM + "import json\nprint(json.dumps({}))\n")
    assert "scan.not_tried" not in codes("prints_json.py")


@pytest.mark.beyond_core
def test_a_plain_loss_beside_validation_is_the_training_loss(folder: Path) -> None:
    line = 'print(f"step {epoch} loss {1 / epoch:.4f} val_loss {2 / epoch:.4f}")'
    *before, _ = PROGRAM.rstrip().splitlines()
    (folder / "both.py").write_text("\n".join([*before, f"    {line}"]))
    scan = tw.project.scan(f"{sys.executable} both.py", minimize="val_loss", try_s=60)
    assert scan.tried is not None and scan.tried.metrics == ("loss", "val_loss")
    means = tw.project.load(folder).settings["means"]
    assert (means["train_loss"], means["valid_loss"]) == ("loss", "val_loss")


@pytest.mark.beyond_core
def test_a_short_run_shows_how_metrics_are_read(folder: Path) -> None:
    found = tw.project.scan(f"{sys.executable} train.py", minimize="val_loss", try_s=60)
    assert found.tried is not None and found.tried.status == 0 and found.tried.patterns
    assert any("val loss" in line for line in found.tried.output)
    assert tw.project.load(folder).settings["read"] == found.tried.patterns
    endless = folder / "endless.py"
    endless.write_text("import time\nlr = 0.1\nprint('x', flush=True)\ntime.sleep(600)\n")
    tried = tw.project.scan(
        f"{sys.executable} endless.py", minimize="val_loss", try_s=0.2, write=False
    ).tried
    assert tried is not None and tried.status is None and tried.toml == ()


def test_a_second_seed_stays_with_the_program(folder: Path) -> None:
    """A round refuses seeds as hyperparameters, so that one in the command could not run."""
    text = PROGRAM.replace("asked = ", "parser.add_argument('--trial_seed', default=0)\nasked = ")
    (folder / "train.py").write_text(text)
    found = tw.project.scan("train.py", minimize="val_loss")
    assert found.roles()["trial_seed"] == "fixed" and "trial_seed" not in found.command
    assert "trial_seed" not in found.round_text
