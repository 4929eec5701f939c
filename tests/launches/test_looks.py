"""Repeating both arms until there is an answer."""

from __future__ import annotations

import os
import random
import signal
from dataclasses import replace

import pytest
from tests.launches.arms import warning

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import load, run
from tunewright.execution.workload import Workload
from tunewright.launches import lineage
from tunewright.launches.launch import TWO_LOOKS, LaunchTerms
from tunewright.launches.looks import Question, look_until_decided, record, with_repeats
from tunewright.messages import Message
from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core  # many trials or repetitions: seconds each

ROUND = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-2, 1e-1)},
    fixed={"gain": 0.1},
    trials_per_study=3,
)


INTERRUPTS: list[int] = []  # signals that the next trainings send to this process


def train(run, learning_rate, layers=1, gain=0.1, fails=False):
    if fails and run.number is None:
        raise RuntimeError("no data")
    if INTERRUPTS:
        os.kill(os.getpid(), INTERRUPTS.pop())
    luck = random.Random(run.seeds.init + layers).gauss(0, 0.01)
    run.log(1, valid_error=1 + learning_rate - gain * layers + luck)


@pytest.fixture
def workload(tmp_path):
    return Workload(train, minimize("valid_error"), store=tmp_path / "t.db", executor=Inline())


def pair(results):
    return with_repeats(results, results.best(layers=2)), with_repeats(
        results, results.best(layers=1)
    )


def test_a_clear_gain_takes_three_runs_of_each(workload):
    results = run(ROUND, workload)
    looks = []
    found = look_until_decided(*pair(results), workload, on_look=looks.append)
    assert found.launch.verdict == "launch"
    assert found.launch.runs == (3, 3)
    assert [own.runs for own in looks] == [(3, 3)]
    assert not found.interrupted
    with Store.open(workload.store) as store:
        record(store, found, why="clear")
        assert lineage.baseline(store).place.configuration["layers"] == 2
        (one,) = lineage.launches(store)
    assert one.decision["threshold"] == 0.965
    assert len(one.decision["candidate_values"]) == 3


def test_looks_go_on_until_it_is_settled_or_none_is_left(workload):
    results = run(replace(ROUND, fixed={"gain": 0.0}), workload)
    looks = []
    found = look_until_decided(*pair(results), workload, on_look=looks.append)
    runs = [own.runs[0] for own in looks]
    assert runs == [3, 5, 8, 13, 20][: len(runs)]
    assert len(runs) > 1
    assert all(own.verdict == "undecided" for own in looks[:-1])
    assert found.launch.runs_needed == 0
    there = load(workload.store, "depth")
    again = look_until_decided(*pair(there), workload)
    assert again.launch.runs == found.launch.runs
    now = load(workload.store, "depth")
    assert len(now.recorded_repeats) == len(there.recorded_repeats)  # nothing was trained


def test_a_second_decision_on_a_fixed_plan_is_sequential(workload):
    results = run(replace(ROUND, fixed={"gain": 0.0}), workload)
    once = look_until_decided(*pair(results), workload, Question(LaunchTerms(plan=5)))
    assert once.launch.looks == (5,)
    results = load(workload.store, "depth")
    again = look_until_decided(*pair(results), workload, Question(LaunchTerms(plan=5), looked=1))
    assert again.launch.looks == (3, 5, 8, 13, 20)
    assert again.launch.runs[0] >= 5
    two = look_until_decided(
        *pair(load(workload.store, "depth")), workload, Question(LaunchTerms(plan=TWO_LOOKS))
    )
    assert two.launch.verdict in ("launch", "keep")


def test_what_findings_forbid_is_said_before_anything_is_run(workload):
    results = run(ROUND, workload)
    found = look_until_decided(*pair(results), workload, Question(findings=(warning("fairness"),)))
    assert found.launch.verdict == "undecided"
    assert found.summary is None
    assert found.launch.reasons[0].facts["check"] == "fairness"
    assert found.launch.forbidden
    assert not load(workload.store, "depth").recorded_repeats


def test_the_runs_that_won_can_be_used_again_or_left_out(workload):
    results = run(ROUND, workload)
    look_until_decided(*pair(results), workload)
    candidate, baseline = pair(load(workload.store, "depth"))
    reused = look_until_decided(candidate, baseline, workload, won_with=3)
    assert Message("launch.reused_runs", {"runs": 3}) in reused.launch.caveats
    fresh = look_until_decided(candidate, baseline, workload, won_with=3, skip=3)
    assert "launch.reused_runs" not in [caveat.code for caveat in fresh.launch.caveats]
    assert not set(fresh.launch.baseline_values) & set(reused.launch.baseline_values)


def test_runs_that_all_fail_end_it(workload):
    results = run(replace(ROUND, fixed={"gain": 0.1, "fails": True}), workload)
    found = look_until_decided(*pair(results), workload)
    assert found.launch.verdict == "undecided"
    assert found.launch.runs == (0, 0)


def test_an_interrupted_launch_goes_on_where_it_stopped(workload):
    results = run(ROUND, workload)

    INTERRUPTS.append(signal.SIGINT)
    found = look_until_decided(*pair(results), workload)
    assert found.interrupted
    done = len(load(workload.store, "depth").recorded_repeats)
    assert done == 3  # asked for, of which one ran
    found = look_until_decided(*pair(load(workload.store, "depth")), workload)
    assert found.launch.verdict == "launch"


def test_a_trial_is_not_launched_over_itself(workload):
    results = run(ROUND, workload)
    own = with_repeats(results, results.best())
    with pytest.raises(DesignError, match="nothing to launch"):
        look_until_decided(own, own, workload)
