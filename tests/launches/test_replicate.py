"""Rounds and configurations done again under other seeds."""

from __future__ import annotations

import random

import pytest

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import run
from tunewright.execution.workload import Workload
from tunewright.launches.decide import decide
from tunewright.launches.launch import LaunchTerms
from tunewright.launches.looks import arm_on_splits, replicate, replicate_round, replicates, resplit
from tunewright.store.store import Store

ROUND = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-2, 1e-1)},
    trials_per_study=3,
)


def train(run, learning_rate, layers=1):
    luck = random.Random(run.seeds.init + layers).gauss(0, 0.01)
    run.log(1, valid_error=1 + learning_rate - 0.1 * layers + luck)


@pytest.fixture
def workload(tmp_path):
    return Workload(train, minimize("valid_error"), store=tmp_path / "t.db", executor=Inline())


def _another(results, *trials):
    return next(t for t in results.trials if t.number not in [own.number for own in trials])


def test_a_round_is_done_again_with_other_points(workload):
    results = run(ROUND, workload)
    again, summary = replicate(results, workload, 3)
    assert summary.why == "finished"
    assert [own.round.name for own in again] == ["depth.study2", "depth.study3"]
    points = [{t.configuration["learning_rate"] for t in own.trials} for own in (results, *again)]
    assert not points[0] & points[1] and not points[1] & points[2]
    with Store.open(workload.store) as store:
        assert len(replicates(store, results.round)) == 2
    assert replicate_round(results.round, 2).seed != results.round.seed
    with pytest.raises(DesignError, match="from 2"):
        replicate(results, workload, 1)


def test_one_configuration_on_several_splits(workload):
    results = run(ROUND, workload)
    best, other = results.best(layers=2), results.best(layers=1)
    arm, summary = resplit(results, best, workload, 3)
    against, _ = resplit(results, other, workload, 3)
    assert summary.why == "finished"
    assert len(arm.values) == 3
    assert len(set(arm.splits)) == 3
    assert arm.splits == against.splits
    with Store.open(workload.store) as store:
        assert arm_on_splits(store, results, best) == arm
        assert arm_on_splits(store, results, _another(results, best, other)) is None
    launch = decide(arm, against, LaunchTerms(plan=3))
    assert launch.method == "paired by split"
    assert launch.verdict == "launch"
    with pytest.raises(DesignError, match="from 1"):
        resplit(results, best, workload, 0)
