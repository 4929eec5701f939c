"""README and examples run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tunewright as tw

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


def section(title: str, language: str, position: int = 0) -> str:
    """A block of code below a heading of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    text = text.partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[position]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the training program that the README shows first, and nothing else."""
    program = section("Five lines", "python")
    (tmp_path / "train_script.py").write_text(program, encoding="utf-8")
    return tmp_path


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_five_lines_of_the_readme_run(folder: Path) -> None:
    lines = section("Five lines", "python", 1)
    assert len(lines.splitlines()) == 5
    program = folder / "five.py"
    program.write_text(lines, encoding="utf-8")
    done = run_program(program, folder)
    assert done.returncode == 0, done.stderr
    campaign = tw.campaign(folder / "tuning.db")
    assert str(campaign.best) == done.stdout.strip().splitlines()[-1]
    assert set(campaign.best) == {"learning_rate", "decay"} and campaign.spent <= 20


def test_the_two_commands_of_the_readme_run(folder: Path) -> None:
    commands = [line.removeprefix("$ ") for line in section("Five lines", "console").splitlines()]
    for line in commands:
        name, *words = shlex.split(line)
        assert name == "tunewright"
        asked = [sys.executable, "-m", name, *words]
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    campaign = tw.campaign(folder / "tuning.db", "first")
    assert "learning_rate" in campaign.best and campaign.spent <= 20
    assert (folder / "first.html").is_file()


def test_the_quickstart_of_the_readme_runs(tmp_path: Path) -> None:
    program = tmp_path / "quickstart.py"
    program.write_text(section("Quickstart", "python"), encoding="utf-8")
    done = run_program(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "best" in done.stdout
