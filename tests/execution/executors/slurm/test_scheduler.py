"""Answers of Slurm's commands as data, on the fake cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.execution.executors.slurm.fake_slurm import install

from tunewright.execution.executors.slurm.scheduler import UNKNOWN, SchedulerDown, Slurmctl


def test_a_controller_that_is_down_is_told_from_a_job_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{install(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    assert Slurmctl().states(["7"]) == {}
    assert Slurmctl().state(("7", 0)) == UNKNOWN
    (tmp_path / "down").touch()
    with pytest.raises(SchedulerDown):
        Slurmctl().states(["7"])
    with pytest.raises(SchedulerDown):
        Slurmctl().state(("7", 0))
