"""README and examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def run_program(program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TUNEWRIGHT_SHORT": "1", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(program: Path, tmp_path: Path) -> None:
    done = run_program(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"


def test_the_quickstart_of_the_readme_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks, "the README has a quickstart"
    program = tmp_path / "quickstart.py"
    program.write_text(blocks[0], encoding="utf-8")
    done = run_program(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "best" in done.stdout
