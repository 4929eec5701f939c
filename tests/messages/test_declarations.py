"""A declaration reads as Python for Python and as a line of tunewright.toml at a shell."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tunewright.actions import Declare
from tunewright.messages.declarations import as_setting, in_project_file

SOURCE = Path(__file__).parents[2] / "src" / "tunewright"


@pytest.mark.parametrize("value", ["train/loss", 'say "so"', 0.5, 12])
def test_a_value_is_written_so_that_it_can_be_read_back(value: object) -> None:
    setting, _, where = as_setting("means", "x", value).partition(" under ")
    assert tomllib.loads(setting) == {"x": value}
    assert "[workload.means]" in where


def test_what_is_not_known_is_left_open() -> None:
    assert "..." in as_setting("off", "dropout")
    assert "[...]" in as_setting("means", "regularisers", [])


def test_an_action_reads_as_its_reader_can_use_it() -> None:
    action = Declare("train_loss", "train/loss")
    assert as_setting("means", "train_loss", "train/loss") in action.shell_text
    assert action.code_for("python") and not action.code_for("shell")


@pytest.mark.parametrize(
    ("python", "toml"),
    [
        ('means={"a": "b"}', 'a = "b" under [workload.means] in tunewright.toml'),
        ('off={"dropout": 0.0}', "dropout = 0.0 under [workload.off] in tunewright.toml"),
        (
            'Workload(means={"gradient_norm": ...}).',
            "gradient_norm = ... under [workload.means] in tunewright.toml.",
        ),
        ("by all means", "by all means"),
        ('{"means": "a"}', '{"means": "a"}'),
    ],
)
def test_sentences_of_errors_and_probes(python: str, toml: str) -> None:
    assert in_project_file(python) == toml


def test_every_sentence_that_still_holds_python_is_understood() -> None:
    told = [
        line.replace("{{", "{").replace("}}", "}")
        for path in sorted(SOURCE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"""['"].*means=\{+"\{?\w""", line) and "`" not in line and ">>>" not in line
    ]
    assert told
    for line in told:
        simple = re.sub(r'"\{\w+(\["\w+"\])?\}"', '"name"', line)
        assert "means={" not in in_project_file(simple), line
