"""The Slurm executor on a fake cluster of real processes, and on a real one where there is one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.execution.executors.slurm.fake_slurm import Cluster, install

from tunewright.design.objective import minimize
from tunewright.errors import WorkloadError
from tunewright.execution.executors.executor import Assignment, Began, Ended, Event
from tunewright.execution.executors.slurm.slurm import Slurm
from tunewright.execution.workload import Workload
from tunewright.testing import check_executor
from tunewright.testing.programs import tick

WORKLOAD = Workload(tick, minimize("valid_error"))
PATIENCE_S = 60.0


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A fake Slurm on PATH."""
    folder = tmp_path / "slurm"
    monkeypatch.setenv("PATH", f"{install(folder)}{os.pathsep}{os.environ['PATH']}")
    return Cluster(folder)


def assignment(folder: Path, trial: int = 1, attempt: int = 1, steps: int = 400) -> Assignment:
    own = folder / "trials" / f"t{trial}"
    own.mkdir(parents=True, exist_ok=True)
    slow = {"steps": steps, "sleep_s": 0.02}
    return Assignment(trial, attempt, trial, "round", slow, trial, 1, own)


def until(
    executor: Slurm, over: Callable[[list[Event]], bool], told: list[Event] | None = None
) -> list[Event]:
    """Collect events until something holds of them."""
    told = [] if told is None else told
    deadline = time.monotonic() + PATIENCE_S
    while not over(told):
        assert time.monotonic() < deadline, told
        told += executor.events(0.2)
    return told


def has(kind: type) -> Callable[[list[Event]], bool]:
    return lambda told: any(isinstance(event, kind) for event in told)


def ended(told: list[Event]) -> Ended:
    (end,) = [event for event in told if isinstance(event, Ended)]
    return end


def begun(cluster: Cluster, folder: Path, **settings: object) -> tuple[Slurm, list[Event]]:
    """An executor with one trial under way."""
    executor = Slurm(workers=2, poll_s=0.1, **settings)  # type: ignore[arg-type]
    executor.start(WORKLOAD, [assignment(folder, steps=3000)])
    return executor, until(executor, has(Began))


def test_the_contract_on_the_fake(cluster: Cluster) -> None:
    check_executor(Slurm(workers=2, poll_s=0.1), PATIENCE_S)


def test_a_trial_stopped_while_it_waits_ends(cluster: Cluster, tmp_path: Path) -> None:
    (cluster.folder / "hold").touch()
    executor = Slurm(workers=2, poll_s=0.1)
    executor.start(WORKLOAD, [assignment(tmp_path, trial=1), assignment(tmp_path, trial=2)])
    executor.stop(1, grace_s=100)
    told = until(executor, has(Ended))
    assert (ended(told).trial, ended(told).outcome.status) == (1, "stopped")
    assert ended(told).outcome.reason.code == "stopped.before_start"  # type: ignore[union-attr]
    executor.close()


def test_a_bad_partition_is_refused_before_anything_is_queued(cluster: Cluster) -> None:
    with pytest.raises(WorkloadError) as raised:
        _ = Slurm(partition="nowhere").slots
    assert raised.value.code == "slurm.refused"
    assert "artition" in raised.value.facts["reason"]
    assert cluster.tasks() == []


def test_settings_that_make_no_sense_are_refused_together() -> None:
    with pytest.raises(WorkloadError) as raised:
        Slurm(partition="a b", workers=0, lines=["x\ny"])
    codes = {p.code for p in raised.value.problems}
    assert codes == {"slurm.bad_count", "slurm.bad_word", "slurm.bad_line"}


def test_without_slurm_the_commands_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(WorkloadError) as raised:
        _ = Slurm().slots
    assert raised.value.code == "slurm.no_commands"


def test_several_trials_are_one_array_job(cluster: Cluster, tmp_path: Path) -> None:
    executor = Slurm(workers=3, poll_s=0.1)
    executor.start(WORKLOAD, [assignment(tmp_path, n, steps=2) for n in range(3)])
    until(executor, lambda told: sum(isinstance(e, Ended) for e in told) == 3)
    assert cluster.tasks() == ["1_0", "1_1", "1_2"]
    executor.close()
    assert not any((tmp_path / "trials" / ".slurm").iterdir())
