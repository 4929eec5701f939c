"""A declaration reads as Python for Python and as a line of tunewright.toml at a shell."""

from __future__ import annotations

import re
import tomllib

import pytest

from tunewright import messages
from tunewright.actions import Declare
from tunewright.messages import Message, en
from tunewright.messages.words import as_argument, as_setting


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


PYTHON = re.compile(r"(means|off)=\{|deterministic=True|Workload\(means")
SHELL = re.compile(r"under \[workload")


def test_a_sentence_declares_as_its_reader_writes_it() -> None:
    own = Message("probe.schedule_squeezed", {"name": "schedule", "constant": "flat"})
    inside = Message("file.problem", {"path": "a", "problem": own.to_data()})
    for message in (own, inside):
        assert as_argument("off", "schedule", "flat") in message.text_for("python")
        assert as_setting("off", "schedule", "flat") in message.text_for("shell")


def test_a_command_makes_every_sentence_for_the_shell() -> None:
    message = Message("probe.unclipped_unknown", {"name": "clip_norm"})
    python = message.text
    with messages.read_by("shell"):
        shell = message.text
        with messages.read_by("python"):
            assert message.text == python
        assert message.text == shell
    assert message.text == python
    assert as_argument("off", "clip_norm") in python and as_setting("off", "clip_norm") in shell


class Anything(dict[str, object]):
    """Facts of every name."""

    def __missing__(self, name: str) -> str:
        return "name"


def test_no_sentence_declares_in_one_language_alone() -> None:
    """Whatever the catalogue asks to declare reads as Python and as the project's file."""
    declares = 0
    for code, template in en.SENTENCES.items():
        if not isinstance(template, str):
            continue
        assert not PYTHON.search(template) and not SHELL.search(template), code
        if ":means" not in template and ":off" not in template and "{declare." not in template:
            continue
        declares += 1
        facts = Anything(low=1.0, high=2.0, logged=[], takes=[], trials=[])
        python, shell = (messages.fill(template, facts, one) for one in ("python", "shell"))
        assert PYTHON.search(python) and not SHELL.search(python), code
        assert SHELL.search(shell) and not PYTHON.search(shell), code
    assert declares >= 12
