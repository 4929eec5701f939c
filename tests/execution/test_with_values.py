"""A program runs with other constants, and its file stays as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
LR, DEPTH = 0.1, 2
class Hyper:
    steps: int = 5
import sys
print(LR, DEPTH, Hyper.steps, sys.argv[1:], __name__)
"""


def start(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    module = ["-m", "tunewright.execution.with_values", "train.py"]
    return subprocess.run(
        [sys.executable, *module, *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.beyond_core
def test_values_replace_constants_and_unknown_names_end_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    ran = start(tmp_path, "LR=0.5", "Hyper.steps=9", "--", "--resume")
    assert ran.stdout.strip() == "0.5 2 9 ['--resume'] __main__", ran.stderr
    assert start(tmp_path, "LRR=0.5").returncode == 2
    assert (tmp_path / "train.py").read_text() == PROGRAM
