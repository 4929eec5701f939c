"""docs/costs.md shows what the commands print: run anew, every line has the same shape."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import tunewright as tunewright
from tests.cli.small_project import Tunewright

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "costs.md").read_text(encoding="utf-8")
TRAIN = '''
def train(run, learning_rate, layers=1, max_train_steps=200):
    """Fits x to 3 by gradient descent."""
    x = 0.0
    for step in run.steps(max_train_steps):
        x -= learning_rate * (x - 3) / layers
        if run.eval_due(step):
            run.log(step, valid_error=abs(x - 3))
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 5
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 200
"""
# a range of times or of money, or one where both ends are shown alike
TIME = r"(?:\d+\.\d+ s|\d+ s|\d+m\d\d|\d+h\d\d|\d+d\d\dh)"
NUMBER = r"\d[\d.]*(?:e[+-]?\d+)?"


def shape(line: str) -> str:
    """A line without its figures."""
    line = re.sub(rf"about {TIME}|{TIME} to {TIME}|{TIME}", "TIME", line)
    line = re.sub(rf"(?:{NUMBER} to )?{NUMBER} EUR", "MONEY", line)
    return re.sub(NUMBER, "N", line).rstrip()


def blocks() -> list[list[tuple[str, list[str]]]]:
    """The commands of each block that shows output, with that output."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        parts = [part for part in block.split("$ ") if part]
        made = [(p.splitlines()[0], p.splitlines()[1:]) for p in parts]
        if any(lines for _, lines in made):
            found.append(made)
    return found


@pytest.fixture
def fresh(tunewright: Tunewright, tmp_path: Path) -> Tunewright:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    return tunewright


@pytest.mark.beyond_core
def test_every_line_has_the_shape_of_what_is_printed(fresh: Tunewright) -> None:
    shown = 0
    for command, lines in (one for block in blocks() for one in block):
        words = shlex.split(command, comments=True)
        assert words[0] == "tunewright", command
        answer = fresh(*words[1:])
        assert answer.code == 0, answer.err
        printed = {shape(line) for line in (answer.out + answer.err).splitlines()}
        clock = {re.sub(r"^N:N:N +", "", line) for line in printed}
        for line in lines:
            if line != "...":
                assert shape(line) in printed | clock, f"{command}: {line!r}, {sorted(printed)}"
                shown += 1
    assert shown >= 10
