"""scripts/setup installs what is missing and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files that setup reads, with an environment that writes down its calls."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$*" >> .venv/calls\n')
    python.chmod(0o755)
    return tmp_path


def installs(project: Path, extras: str) -> list[str]:
    """The extras that setup installs when it is asked for these."""
    calls = project / ".venv" / "calls"
    calls.unlink(missing_ok=True)
    subprocess.run([project / "scripts" / "setup", extras], check=True, capture_output=True)
    if not calls.exists():
        return []
    assert all("--constraint constraints.txt" in line for line in calls.read_text().splitlines())
    return calls.read_text().splitlines()


def test_the_integrations_are_no_part_of_all_and_dev(project: Path) -> None:
    first = installs(project, "all,dev")
    assert "torch==2.13.0" in first[0] and first[-1].endswith(".[all,dev]")
    assert installs(project, "all,dev") == [] == installs(project, "demo,plots")
    assert installs(project, "all,dev,integrations")[-1].endswith(".[all,dev,integrations]")
    assert installs(project, "all,dev,integrations") == [] == installs(project, "all,dev")


def test_a_part_does_not_count_as_the_whole(project: Path) -> None:
    assert installs(project, "demo,plots")
    assert installs(project, "plots") == []
    assert installs(project, "all,dev")
    (project / "constraints.txt").write_text("torch==2.13.0\n")
    assert installs(project, "all,dev"), "other pins are installed anew"
