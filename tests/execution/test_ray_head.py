"""The head of a cluster is lost: what has ended is recorded, and the supervisor says so."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from tests.execution import cluster_programs as programs

import tunewright as tw

pytestmark = [pytest.mark.ray, pytest.mark.slow]

HEAD = """
import sys, time
from pathlib import Path
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
address, end = map(Path, sys.argv[1:])
address.with_suffix(".part").write_text(cluster.address)
address.with_suffix(".part").rename(address)
while not end.exists():
    time.sleep(0.1)
cluster.head_node.all_processes["gcs_server"][0].process.kill()
time.sleep(600)
"""
DRIVER = """
import sys
from tests.execution import cluster_programs as programs
import tunewright as tw
from tunewright.execution.executors.ray.ray import Ray

address, store, events = sys.argv[1:]
round = tw.Round(
    "head", goal="?", scientific={}, nuisance={"x": tw.linear(0, 1)},
    fixed={"events": events, "steps": 40, "sleep_s": 0.1}, trials_per_study=50,
)
executor = Ray(address=address)
workload = tw.Workload(programs.steady, tw.minimize("valid_error"), store=store, executor=executor)
tw.run(round, workload)
"""


def test_a_lost_head(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parent),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    address, end, events, store = (tmp_path / name for name in ("address", "end", "events", "db"))
    head = subprocess.Popen([sys.executable, "-c", HEAD, str(address), str(end)], env=environment)
    try:
        programs.wait_for(address.exists)
        words = [sys.executable, "-c", DRIVER, address.read_text(), str(store), str(events)]
        driver = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
        programs.wait_for(lambda: any(one["what"] == "finish" for one in programs.read(events)))
        end.touch()
        _, said = driver.communicate(timeout=120)
    finally:
        head.terminate()
        head.wait()
    assert "the Ray cluster has not answered for 40 s" in said
    assert driver.returncode == 1, "by its own exception, not by Ray"
    done = {one["number"] for one in programs.read(events) if one["what"] == "finish"}
    recorded = {one.number for one in tw.load(store, "head").trials if one.status == "completed"}
    assert len(done) > 3, "trials went on without the head"
    assert recorded <= done and len(done - recorded) <= 1, "one may have ended too late to be told"
    assert all(one.status != "running" for one in tw.load(store, "head").trials)
