"""Real processes: several ranks, a pipeline fit, factories that are wrong, and limited memory."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from tests.probes import ranked_steps

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.probes.throughput.rig import CannotStep, OutOfMemory, ProcessRig
from tunewright.probes.throughput.size_sweep import BatchSizeTerms
from tunewright.probes.throughput.subject import MANY_STEPS, subject_of
from tunewright.probes.throughput.timing import TimingRule

QUICK = TimingRule(window_s=0.02, seconds=0.12, settling=3, most_settling=6)
OBJECTIVE = tw.minimize("valid_error")


@pytest.mark.parametrize("sizes", [[8], pytest.param([4, 8], marks=pytest.mark.slow)])
def test_two_processes_train_together(sizes: list[int]) -> None:
    answer = tw.probes.batch_size(
        ranked_steps.make_ranked_step,
        terms=BatchSizeTerms(sizes=sizes, processes=2, rule=QUICK),
        store=None,
    )
    assert [row.batch_size for row in answer.rows] == sizes
    assert answer.identity["processes"] == "2" and answer.processes == 2
    assert "DistributedDataParallel of 1,056 parameters" in answer.identity["model"]
    assert answer.efficiency is not None and 0 < answer.efficiency < 3
    assert answer.rows[0].peak_mb > 300  # both processes together


def test_a_pipeline_fit_is_driven_between_its_steps() -> None:
    workload = tw.Workload(ranked_steps.train, OBJECTIVE, store="unused.db")
    subject = subject_of(workload, {"width": 32})
    assert subject.kind == "training" and subject.batch_name == "batch_size"
    with contextlib.closing(ProcessRig(subject)) as rig:
        rig.build(64)
        ran = rig.run([1, 1, 5, 5], [False, False, False, True])
        assert len(ran.seconds) == 4 and all(seconds > 0 for seconds in ran.seconds)
        assert [len(window) for window in ran.waits] == [1, 1, 5, 5]
        assert sum(ran.waits[2]) > 0 and sum(ran.waits[3]) == 0  # the last is cached
        identity = rig.identify()
        assert identity["example"] == "(64,) float32" and "SGD" in identity["optimizer"]
        rig.build(128)  # the next size, in the same process
        assert rig.run([2]).peak_mb > 0


@pytest.mark.parametrize(
    "factory, said",
    [
        (ranked_steps.raises, "ranked_steps.raises failed at batch size 8: ValueError: no data"),
        (ranked_steps.returns_nothing, "returned NoneType None, not a function: return step"),
        (ranked_steps.dies, "ended with status 7; its last words:\nabout to go"),
    ],
)
def test_factories_that_cannot_be_built(factory: Any, said: str) -> None:
    with (
        pytest.raises(WorkloadError) as refused,
        contextlib.closing(ProcessRig(subject_of(factory))) as rig,
    ):
        rig.build(8)
    assert said in str(refused.value)


def test_steps_that_fail_and_steps_that_do_nothing() -> None:
    with (
        pytest.raises(CannotStep, match=r"failed in a step .*KeyError: 'label'.*ranked_steps.py:"),
        contextlib.closing(ProcessRig(subject_of(ranked_steps.raises_in_step))) as rig,
    ):
        rig.build(8)
        rig.run([1])
    with pytest.raises(WorkloadError, match="time of doing nothing"):
        tw.probes.batch_size(
            ranked_steps.does_nothing,
            terms=BatchSizeTerms(smallest=32, largest=32, rule=QUICK),
            store=None,
        )


@pytest.mark.parametrize(
    "train, said",
    [
        (ranked_steps.train_alone, "never asked for its steps: write `for step in run.steps"),
        (ranked_steps.train_short, "left its loop after 3 steps"),
    ],
)
def test_training_functions_that_cannot_be_driven(train: Any, said: str) -> None:
    subject = subject_of(tw.Workload(train, OBJECTIVE))
    with pytest.raises(CannotStep) as refused, contextlib.closing(ProcessRig(subject)) as rig:
        rig.build(8)
        rig.run([1] * 10)
    assert said in str(refused.value)


def test_more_memory_than_allowed_ends_it() -> None:
    subject = subject_of(ranked_steps.hoards)
    with (
        pytest.raises(OutOfMemory),
        contextlib.closing(ProcessRig(subject, memory_mb=700.0)) as rig,
    ):
        rig.build(1)
        for _ in range(50):
            rig.run([2])


# ---- what can be probed at all


@pytest.mark.parametrize(
    "thing, fixed, error, said",
    [
        (3, {}, WorkloadError, "neither a workload nor a function"),
        (lambda: None, {}, WorkloadError, "takes no batch_size"),
        (lambda batch_size, width: None, {}, WorkloadError, "needs width too"),
        (lambda batch_size: None, {"wdth": 1}, DesignError, "takes no 'wdth'"),
        (ranked_steps.train, {}, WorkloadError, "is a training function: probe the workload"),
        (math.hypot, {}, WorkloadError, "hypot"),
    ],
)
def test_what_cannot_be_probed(thing: Any, fixed: dict, error: type, said: str) -> None:
    with pytest.raises(error) as refused:
        subject_of(thing, fixed)
    assert said in str(refused.value)


def test_workloads_go_by_what_names_mean() -> None:
    def own(run: Any, bs: int, epochs: int, rate: float) -> None: ...

    with pytest.raises(DesignError, match=r'takes no .*batch_size.*means=\{"batch_size": "bs"\}'):
        subject_of(tw.Workload(own, OBJECTIVE, means={"batch_size": None}))
    assert subject_of(tw.Workload(own, OBJECTIVE), {"rate": 0.1}).batch_name == "bs"
    workload = tw.Workload(own, OBJECTIVE, means={"batch_size": "bs", "max_train_steps": "epochs"})
    with pytest.raises(DesignError, match="needs rate too"):
        subject_of(workload)
    subject = subject_of(workload, {"rate": 0.1})
    assert subject.batch_name == "bs"
    assert subject.configuration == {"rate": 0.1, "epochs": MANY_STEPS}
    with pytest.raises(DesignError, match="Did you mean 'rate'"):
        subject_of(workload, {"rte": 0.1})
