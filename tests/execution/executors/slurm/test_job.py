"""The script of an array job."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tunewright.execution.executors.slurm.job import script


def test_options_come_first_and_paths_are_quoted(tmp_path: Path) -> None:
    text = script(["module load cuda", "#SBATCH --gpus=1"], tmp_path / "a b; ls")
    lines = text.splitlines()
    assert lines[:2] == ["#!/bin/bash", "#SBATCH --gpus=1"]
    assert lines[2].endswith(" USR1") and lines[3:5] == ["trap '' TERM", "module load cuda"]
    (task,) = [line for line in lines if line.endswith(") &")]
    assert task.endswith(f"'{tmp_path / 'a b; ls'}') &")
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
