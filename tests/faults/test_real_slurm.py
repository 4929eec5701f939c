"""Faults on a real Slurm of one node: pre-emption, time limit, lost node, new controller."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.execution.executors.slurm.real_slurm import RealSlurm, missing
from tests.execution.executors.slurm.test_slurm import WORKLOAD, assignment, ended, has, until

from tunewright.execution.executors.executor import Began, Ended, Event, Saved
from tunewright.execution.executors.slurm.slurm import Slurm
from tunewright.testing import check_executor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"needs {', '.join(missing())}"),
]

SAVED_S = 12.0  # slurmctld writes its state at most 5 s after a change


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    before = os.environ.get("SLURM_CONF")
    with tempfile.TemporaryDirectory(prefix="tw-slurm-", dir="/tmp") as made:
        cluster = RealSlurm(Path(made) / "own")
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.close()
            if before is None:
                os.environ.pop("SLURM_CONF", None)
            else:
                os.environ["SLURM_CONF"] = before


def begun(folder: Path, **settings: object) -> tuple[Slurm, list[Event]]:
    executor = Slurm(partition="low", workers=1, poll_s=0.5, **settings)  # type: ignore[arg-type]
    executor.start(WORKLOAD, [assignment(folder, steps=60_000)])
    return executor, until(executor, has(Began))


@pytest.fixture(autouse=True)
def no_job_left(slurm: RealSlurm) -> Iterator[None]:
    yield
    subprocess.run(["scancel", "--full", "--user=root"], capture_output=True, check=False)
    slurm.wait("squeue --noheader", lambda text: not text.strip())


def status(end: Ended) -> str:
    return end.outcome.status


def code(end: Ended) -> str:
    assert end.outcome.reason is not None
    return end.outcome.reason.code


def test_the_contract(slurm: RealSlurm) -> None:
    check_executor(Slurm(partition="low", workers=1, poll_s=0.5), 300)


def test_preempted_by_a_partition_of_higher_priority(slurm: RealSlurm, tmp_path: Path) -> None:
    executor, told = begun(tmp_path)
    job = ["sbatch", "--partition=high", "--output=/dev/null", "--wrap=sleep 1"]
    subprocess.run(job, check=True, capture_output=True)
    until(executor, has(Ended), told)
    assert (status(ended(told)), code(ended(told))) == ("stopped", "slurm.terminated"), ended(told)
    step = [event for event in told if isinstance(event, Saved)][-1].step
    executor.start(WORKLOAD, [assignment(tmp_path, attempt=2, steps=step + 1)])
    again = until(executor, has(Ended))
    assert next(e for e in again if isinstance(e, Began)).start_step == step
    assert status(ended(again)) == "completed"
    executor.close()


def test_warned_before_the_time_limit(slurm: RealSlurm, tmp_path: Path) -> None:
    """Slurm's limits are whole minutes; a notice of nearly one comes at once."""
    executor, told = begun(tmp_path, time_limit="1:00", notice_s=50.0)
    until(executor, has(Ended), told)
    assert (status(ended(told)), code(ended(told))) == ("stopped", "slurm.time_limit"), ended(told)
    assert has(Saved)(told)
    executor.close()


def test_a_restarted_controller(slurm: RealSlurm, tmp_path: Path) -> None:
    executor, told = begun(tmp_path)
    slurm.end("slurmctld")
    for _ in range(5):
        told += executor.events(0.2)
    assert not has(Ended)(told)
    slurm.start_controller()
    for _ in range(10):
        told += executor.events(0.2)
    assert not has(Ended)(told)
    executor.stop(1, grace_s=10)
    until(executor, has(Ended), told)
    assert (status(ended(told)), code(ended(told))) == ("stopped", "stopped.after_saving")
    executor.close()


def test_a_controller_killed_after_it_saved_its_state(slurm: RealSlurm, tmp_path: Path) -> None:
    """It saves a few seconds after a task began, and knows the task when it is started again."""
    executor, told = begun(tmp_path)
    time.sleep(SAVED_S)
    slurm.end("slurmctld", signal.SIGKILL)
    slurm.start_controller()
    for _ in range(20):
        told += executor.events(0.5)
    assert not has(Ended)(told)
    executor.stop(1, grace_s=10)
    until(executor, has(Ended), told)
    assert (status(ended(told)), code(ended(told))) == ("stopped", "stopped.after_saving")
    executor.close()


def test_a_controller_killed_before_it_saved_its_state(slurm: RealSlurm, tmp_path: Path) -> None:
    """It does not know that the task runs: it kills the task and may start it once more."""
    older = shutil.copytree(slurm.folder / "state", tmp_path / "state")
    executor, told = begun(tmp_path)
    slurm.end("slurmctld", signal.SIGKILL)
    shutil.rmtree(slurm.folder / "state")  # as it was before the job, however fast it saved
    shutil.copytree(older, slurm.folder / "state")
    slurm.start_controller()
    until(executor, has(Ended), told)
    assert status(ended(told)) == "stopped", ended(told)
    assert code(ended(told)) in ("slurm.restarted", "slurm.forgotten", "slurm.terminated")
    assert sum(isinstance(event, Began) for event in told) == 1, "trained twice"
    step = next((e.step for e in reversed(told) if isinstance(e, Saved)), 0)
    executor.start(WORKLOAD, [assignment(tmp_path, attempt=2, steps=step + 1)])
    again = until(executor, has(Ended))
    assert status(ended(again)) == "completed"
    executor.close()


def test_a_node_that_is_lost(slurm: RealSlurm, tmp_path: Path) -> None:
    """The node's daemon and everything below it are gone; Slurm reports it after SlurmdTimeout."""
    executor, told = begun(tmp_path)
    slurm.end("slurmd", signal.SIGKILL)
    found = subprocess.run(["pgrep", "-f", "slurmstepd"], capture_output=True, text=True)
    tasks = [one for one in executor._running if one.task is not None]
    listed = subprocess.run(
        ["pgrep", "-f", str(tasks[0].batch.folder)], capture_output=True, text=True
    )
    for pid in {*found.stdout.split(), *listed.stdout.split()}:
        if str(slurm.folder) in _environment(pid) or pid in listed.stdout.split():
            os.kill(int(pid), 9)
    until(executor, has(Ended), told)
    end = ended(told)
    assert (status(end), code(end)) == ("died", "slurm.ended")
    assert end.outcome.reason is not None and end.outcome.reason.facts["state"] == "NODE_FAIL"
    executor.close()
    slurm.start_node()


def _environment(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""
