"""Run rank_worker.py once on several gloo processes and hand its answers to every test."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import torch

from tunewright.store.database import FileLock

HERE = Path(__file__).parent
WORLDS = (2, 4)


@cache
def answers(world: int) -> tuple[dict, ...]:
    """What each rank answered, by rank; `log` holds the lines that the ranks wrote.

    Processes of one run of the tests share it: it takes as long as the other tests together.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return _asked(world)
    shared = Path(tempfile.gettempdir(), f"tunewright-ranks-{run}-{world}.pt")
    with contextlib.closing(FileLock(shared.with_suffix(".lock"))) as lock, lock.hold(600):
        if not shared.exists():
            torch.save(_asked(world), shared)
    return torch.load(shared, weights_only=True)


def _asked(world: int) -> tuple[dict, ...]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _launch(world, folder)
        found = [torch.load(folder / f"rank-{rank}.pt", weights_only=True) for rank in range(world)]
        log = (folder / "log").read_text().splitlines()
    return tuple(answer | {"log": log} for answer in found)


def _launch(world: int, folder: Path) -> None:
    source = HERE.parents[1] / "src"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{source}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    worker = [str(HERE / "rank_worker.py"), str(folder)]
    if world == 2:
        # Two machines with one process each: both have local rank 0, only one may write.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        group = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
        jobs = [
            subprocess.Popen(
                [sys.executable, *worker],
                env=environment | group | {"RANK": str(rank), "MASTER_PORT": port},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for rank in range(2)
        ]
    else:
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
        jobs = [
            subprocess.Popen(
                [sys.executable, *launcher, *worker],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        ]
    for job in jobs:
        try:
            output, _ = job.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            for other in jobs:
                other.kill()
            raise
        assert job.returncode == 0, output
