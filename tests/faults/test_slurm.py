"""What may happen to a task of a Slurm cluster: the trial saves, resumes, or ends with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.execution.executors.slurm.fake_slurm import Cluster
from tests.execution.executors.slurm.test_slurm import (
    WORKLOAD,
    assignment,
    begun,
    cluster,
    ended,
    has,
    until,
)

from tunewright.execution.executors.executor import Began, Ended, Saved
from tunewright.execution.executors.slurm.slurm import FORGIVEN, Slurm

__all__ = ["cluster"]  # the fixture


def code(end: Ended) -> str:
    assert end.outcome.reason is not None
    return end.outcome.reason.code


def test_a_preempted_trial_saves_and_resumes(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path)
    cluster.preempt("1_0")
    until(executor, has(Ended), told)
    assert (ended(told).outcome.status, code(ended(told))) == ("stopped", "slurm.terminated")
    step = [event for event in told if isinstance(event, Saved)][-1].step
    executor.start(WORKLOAD, [assignment(tmp_path, attempt=2, steps=step + 1)])
    again = until(executor, has(Ended))
    # the program of the test restores nothing, so that it then begins anew
    assert next(e for e in again if isinstance(e, Began)).start_step == step
    assert ended(again).outcome.status == "completed"
    executor.close()


def test_before_the_time_limit_a_trial_saves(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path, time_limit="0:42", notice_s=30.0)
    until(executor, has(Ended), told)
    assert (ended(told).outcome.status, code(ended(told))) == ("stopped", "slurm.time_limit")
    assert has(Saved)(told)
    executor.close()


def test_a_lost_node_is_a_death(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path)
    cluster.lose_node("1_0")
    until(executor, has(Ended), told)
    end = ended(told)
    assert (end.outcome.status, code(end)) == ("died", "slurm.ended")
    assert end.outcome.reason is not None and end.outcome.reason.facts["state"] == "NODE_FAIL"
    executor.close()


def test_a_job_cancelled_by_hand_is_a_death_with_that_reason(
    cluster: Cluster, tmp_path: Path
) -> None:
    executor, told = begun(cluster, tmp_path)
    executor.scheduler.cancel([("1", 0)])
    until(executor, has(Ended), told)
    end = ended(told)
    assert (end.outcome.status, code(end)) == ("died", "slurm.ended")
    assert end.outcome.reason is not None and end.outcome.reason.facts["state"] == "CANCELLED"
    executor.close()


def test_a_restarted_controller_costs_nothing(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path)
    (cluster.folder / "down").touch()
    executor.start(WORKLOAD, [assignment(tmp_path, trial=2, steps=2)])  # waits for it
    for _ in range(5):
        told += executor.events(0.2)
    assert not has(Ended)(told) and cluster.tasks() == ["1_0"]
    (cluster.folder / "down").unlink()
    until(executor, has(Ended), told)
    assert (ended(told).trial, ended(told).outcome.status) == (2, "completed")
    executor.close()


def test_a_task_that_the_controller_lost_is_no_death(cluster: Cluster, tmp_path: Path) -> None:
    """Killed before it saved its newest state, it does not know the task, and the node kills it."""
    executor, told = begun(cluster, tmp_path)
    cluster.forget("1_0")
    until(executor, has(Ended), told)
    assert (ended(told).outcome.status, code(ended(told))) == ("stopped", "slurm.forgotten")
    executor._forgotten[1] = FORGIVEN  # a task that is lost again and again is
    executor.start(WORKLOAD, [assignment(tmp_path, attempt=2, steps=3000)])
    again = until(executor, has(Began))
    cluster.forget(cluster.tasks()[-1])
    until(executor, has(Ended), again)
    assert (ended(again).outcome.status, code(ended(again))) == ("died", "slurm.ended")
    executor.close()


def test_a_task_that_slurm_starts_again_is_no_death(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path)
    (one,) = executor._running
    assert not one.batch.begin(0), "the running task began"
    cluster.lose_node("1_0")
    until(executor, has(Ended), told)
    assert (ended(told).outcome.status, code(ended(told))) == ("stopped", "slurm.restarted")
    executor.close()


def test_a_later_attempt_ends_an_earlier_task(cluster: Cluster, tmp_path: Path) -> None:
    executor, told = begun(cluster, tmp_path)
    later = Slurm(workers=2, poll_s=0.1)  # of a supervisor that took over
    own = assignment(tmp_path, attempt=2, steps=2)
    later.start(WORKLOAD, [replace(own, attempt=2)])
    until(executor, has(Ended), told)
    assert code(ended(told)) == "slurm.superseded"
    until(later, has(Ended))
    executor.close()
    later.close()


def test_a_trial_that_waits_in_the_queue_can_be_stopped(cluster: Cluster, tmp_path: Path) -> None:
    (cluster.folder / "hold").touch()
    executor = Slurm(workers=2, poll_s=0.1)
    executor.start(WORKLOAD, [assignment(tmp_path)])
    executor.stop(1, grace_s=30)
    told = until(executor, has(Ended))
    assert (ended(told).outcome.status, code(ended(told))) == ("stopped", "stopped.before_start")
    executor.close()
