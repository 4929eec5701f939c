"""Values inside a JSON argument of the command become hyperparameters."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.execution.command import command
from tunewright.project import scan
from tunewright.project.programs.declared import Declared
from tunewright.project.programs.json_values import json_notes, json_values, with_fields

PROGRAM = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--hparams", type=str, help="JSON-serialized hparams dict"{default})
parser.add_argument("--model", type=str, default="mlp")
parser.parse_args()
"""
GIVEN = {"lr": 5e-05, "batch_size": 8, "nesterov": True, "net": {"depth": 2}, "name": "a {b}"}


def test_numbers_and_booleans_become_fields_and_the_rest_stays(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("{default}", ""))
    words = shlex.join(["python", "train.py", f"--hparams={json.dumps(GIVEN)}"])
    found = scan(words, minimize="loss", folder=tmp_path)
    roles = found.roles()
    assert (roles["lr"], roles["batch_size"]) == ("nuisance", "fixed")
    own = tw.project.load(tmp_path).workload().train
    assert own.default_values["lr"] == 5e-05
    filled = own.fill({**own.default_values, "lr": 1e-05, "nesterov": False}, {"seed": 3})
    (text,) = [word for word in filled if word.startswith("--hparams=")]
    assert json.loads(text.partition("=")[2]) == {**GIVEN, "lr": 1e-05, "nesterov": False}
    assert "lr" in (tmp_path / "rounds" / "first.toml").read_text().partition("[fixed]")[0]


def test_an_object_that_is_the_default_is_written_out(tmp_path: Path) -> None:
    default = ", default='{\"lr\": 0.1}'"
    (tmp_path / "train.py").write_text(PROGRAM.replace("{default}", default))
    found = scan("train.py", minimize="loss", folder=tmp_path)
    assert command(found.command).fill({"lr": 0.2, "model": "x"}, {"seed": 1})[2] == (
        '--hparams={"lr": 0.2}'
    )
    assert [note.code for note in found.notes] == ["scan.not_tried"]


def test_without_one_a_note_shows_how(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("{default}", ""))
    found = scan("train.py", minimize="loss", folder=tmp_path)
    assert [note.code for note in found.notes] == ["scan.json_option", "scan.not_tried"]
    assert """--hparams='{"lr": 0.001}'""" in found.notes[0].text
    file = Declared("config", "--config", "str", None, help="path of a JSON file")
    assert json_notes([file], []) == []


def test_a_seed_inside_is_the_runs() -> None:
    word = '--c={"seed": 0, "lr": 0.1}'
    assert [one.name for one in json_values([word], ("lr",))] == ["seed"]
    assert with_fields(word, {"seed": "{run.seed}"}) == '--c={{"seed": {run.seed}, "lr": 0.1}}'


@pytest.mark.parametrize("word", ["{", "--a={1, 2}", "[1]", "--b={}", '{"a": null}', "x{y}z"])
def test_other_words_stay_as_they_are(word: str) -> None:
    assert json_values([word], ()) == ()
    template = shlex.quote(with_fields(word, {}))
    assert command(f"train {template} --lr={{lr}}").fill({"lr": 1}, {})[1] == word
