"""A Ray cluster of several nodes on this machine, in token mode as the documents advise."""

from __future__ import annotations

import contextlib
import gc
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# a dead node is noticed after 3 s, not 15 s
NOTICE = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}


@contextlib.contextmanager
def cluster_of_nodes() -> Iterator[Any]:
    """A head without work, and two nodes: one with a disk of its own kind, one with two GPUs."""
    import ray
    from ray._private.authentication_test_utils import reset_auth_token_state
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        reset_auth_token_state()
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": NOTICE}
        made = Cluster(initialize_head=True, head_node_args=head)
        made.add_node(num_cpus=1, resources={"fast_disk": 1}, wait=False)
        made.add_node(num_cpus=1, num_gpus=2, wait=False)  # Ray takes our word for the GPUs
        made.wait_for_nodes()
        yield made
        ray.shutdown()  # a busy machine may not have let go of it yet
        made.shutdown()
    reset_auth_token_state()
    gc.collect()  # here, where what Ray leaves open is no error


def node_of(pid: int, nodes: list[Any]) -> Any:
    """The node that a process belongs to: its raylet is above it."""
    raylets = {node.all_processes["raylet"][0].process.pid: node for node in nodes}
    while pid > 1:
        if pid in raylets:
            return raylets[pid]
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    raise AssertionError("no raylet is above it")
