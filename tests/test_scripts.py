"""scripts/setup installs what is missing and nothing else; coverage counts every process."""

from __future__ import annotations

import shutil
import subprocess
import sys
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


@pytest.mark.beyond_core
def test_coverage_counts_the_main_process_and_the_others(tmp_path: Path) -> None:
    module = tmp_path / "src" / "tunewright" / "store" / "module.py"
    module.parent.mkdir(parents=True)
    for folder in (module.parent, module.parent.parent):
        (folder / "__init__.py").touch()
    module.write_text("def sign(x):\n    if x < 0:\n        return -1\n    return 1\n")
    (tmp_path / ".coveragerc").write_text("[run]\nsource = tunewright\nbranch = true\n")
    script = (
        "import sys, coverage; sys.path.insert(0, 'src')\n"
        "measured = coverage.Coverage(data_suffix=sys.argv[2] or None); measured.start()\n"
        "from tunewright.store.module import sign\n"
        "sign(int(sys.argv[1])); measured.stop(); measured.save()"
    )
    for value, suffix in (("1", ""), ("-1", "other")):  # the second is a process of its own
        subprocess.run([sys.executable, "-c", script, value, suffix], cwd=tmp_path, check=True)
    printed = subprocess.run(
        [sys.executable, ROOT / "scripts" / "coverage_by_folder.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "store          100.0%    100.0%   100.0%" in printed
