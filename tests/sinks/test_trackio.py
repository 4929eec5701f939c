"""Trackio: a real local database, read back by Trackio's own reader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.small_disk import small_disk
from tests.sinks import contract
from tests.sinks.contract import Found

from tunewright.design.workload_file import Sink

pytest.importorskip("trackio")
pytestmark = pytest.mark.beyond_core
# Trackio takes its folder from the environment when it is imported: another process reads
READ = """
import json
import trackio
from trackio.sqlite_storage import SQLiteStorage

found = []
for run in trackio.Api().runs("tunewright"):
    rows = SQLiteStorage.get_logs("tunewright", run.name, run_id=run.id)
    found.append((run.name, run.config, rows))
print(json.dumps(found))
"""


def read(where: Path) -> dict[str, Found]:
    environment = {**os.environ, "TRACKIO_DIR": str(where), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", READ], env=environment, capture_output=True, text=True, check=True
    )
    found = {}
    for name, config, rows in json.loads(done.stdout.splitlines()[-1]):
        curves: dict[str, list[tuple[int, float]]] = {}
        for row in rows:
            for metric, value in row.items():
                if metric not in ("step", "timestamp"):
                    curves.setdefault(metric, []).append((row["step"], value))
        ours = config["tunewright"]
        settings = {k: v for k, v in config.items() if k != "tunewright" and not k.startswith("_")}
        assert name not in found, "one run per trial"
        assert config["_Group"] == contract.ROUND
        found[name] = Found(ours["status"], settings, curves, ours)
    return found


def test_a_database_holds_what_the_store_holds(tmp_path: Path) -> None:
    contract.check_sink(Sink("trackio", str(tmp_path / "trackio")), read, tmp_path)


def test_killed_in_the_middle_and_caught_up(tmp_path: Path) -> None:
    contract.check_killed(Sink("trackio", str(tmp_path / "trackio")), read, tmp_path, (0.0, 0.05))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    contract.check_unreachable(Sink("trackio", str(tmp_path / "trackio")), read, tmp_path)


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2):
        sink = Sink("trackio", str(tmp_path / "disk" / "trackio"))
        contract.check_full(sink, read, tmp_path, tmp_path / "disk")
