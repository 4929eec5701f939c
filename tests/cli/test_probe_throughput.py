"""The commands probe batch-size and probe input: what they print, and how they refuse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

pytestmark = pytest.mark.beyond_core  # most of them start processes

STEPS = """
import time


def make_step(batch_size):
    return lambda: time.sleep(0.001 + 1e-4 * batch_size)
"""


def test_batch_size_of_a_factory_and_its_record(tunewright: Tunewright, tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    asked = ("probe", "batch-size", "steps.py:make_step", "--quick")
    asked += ("--smallest", "8", "--largest", "16", "--price", "3")
    first = tunewright(*asked)
    assert first.code == 0, first.err
    assert "examples/s" in first.out and "batch_size = 16" in first.out
    assert "accumulation brings no throughput" in first.out and "assumed: steps fall" in first.out
    told = tunewright(*asked, "--json").data
    assert told["probe"] == "batch_size" and told["from_record"] and told["knee"] == 16


def test_refusals(tunewright: Tunewright, tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    misspelt = tunewright("probe", "batch-size", "steps.py:make_stp")
    assert misspelt.code == 2 and "make_step?" in misspelt.err
    assert tunewright("probe", "batch-size").code == 2  # neither a factory nor a project
    odd = tunewright("probe", "batch-size", "steps.py:make_step", "--steps", "many")
    assert odd.code == 2 and "--steps 128=50000" in odd.err
    nowhere = tunewright("probe", "input", "steps.py:make_step")
    assert nowhere.code == 2 and "give the batch size" in nowhere.err


PROGRAM = """
import json, sys, time

for step in range(1, int(sys.argv[2]) + 1):
    time.sleep(0.001 + 1e-4 * int(sys.argv[1]))
    print(json.dumps({"step": step, "valid_error": 1 / step}))
"""


def test_batch_size_of_the_command_of_a_project(tunewright: Tunewright, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    trains = f"{sys.executable} -S train.py {{batch_size}} {{max_train_steps}}"
    assert tunewright("init", trains, "--minimize", "valid_error").code == 0
    told = tunewright(
        *("probe", "batch-size", "--quick", "--smallest", "8", "--largest", "16"),
    )
    assert told.code == 0, told.err
    assert "batch_size = " in told.out and "a command hides from outside" in told.out
