"""Offline evaluation: which checkpoint is measured, what is recorded, and what is refused."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError, SnapshotError, WorkloadError
from tunewright.execution.command import command
from tunewright.execution.evaluate import Evaluated, evaluate
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.repeat import repeat
from tunewright.execution.run import load, run
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.store import Store

ROUND = Round(
    "rates",
    goal="Which rate?",
    nuisance={"learning_rate": log(1e-4, 1.0)},
    fixed={"max_train_steps": 10, "best_at": 9},
    trials_per_study=5,
)


def train(run, learning_rate, max_train_steps=10, best_at=9):
    """Best at one step, saved at every step (of which the last two and the best stay)."""
    for step in run.steps(max_train_steps):
        distance = abs(math.log10(learning_rate) + 1)
        if learning_rate > 0.5:
            distance = math.nan
        run.log(step, valid_error=distance + abs(step - best_at) / 100)
        run.save({"weight": np.array([learning_rate, step]), "distance": distance})


def full(checkpoint):
    state = checkpoint.state
    return {
        "full_error": 2 * state["distance"],
        "saved_at": int(state["weight"][1]),
        "split": checkpoint.seeds.split,
    }


def own_files(checkpoint):
    assert checkpoint.path is None
    return {"full_error": float((checkpoint.folder / "model.txt").read_text())}


def broken(checkpoint):
    raise ValueError("no such data set")


def returns_nothing(checkpoint):
    del checkpoint


def the_objective_again(checkpoint):
    return {"valid_error": 0.0}


def reads_the_state(checkpoint):
    return {"full_error": checkpoint.state["distance"]}


def train_without_saving(run, learning_rate, max_train_steps=10, best_at=9):
    run.log(1, valid_error=learning_rate)
    (run.folder / "model.txt").write_text(str(3 * learning_rate))


@pytest.fixture
def workload(tmp_path):
    return Workload(train, minimize("valid_error"), store=tmp_path / "tuning.db", executor=Inline())


def test_the_best_steps_checkpoint_is_measured_and_recorded(workload):
    results = run(ROUND, workload)
    top = results.top(3)
    told: list[Evaluated] = []
    found = evaluate(top, workload, full, on_measured=told.append)
    assert [one.trial.number for one in found] == [t.number for t in top]
    assert told == list(found)
    after = load(workload.store, "rates")
    for trial, one in zip(top, found, strict=True):
        assert trial.best_step == 9
        assert one.step == 9 and one.at_best_step
        assert one.metrics["saved_at"] == 9
        assert one.proxy == trial.value
        curve = after.curves(trial.number, "full_error")
        assert curve.steps.tolist() == [9]
        assert curve.values.tolist() == [one.metrics["full_error"]]
        # the trial itself is as it was
        assert after.trial(trial.number).value == trial.value
        assert after.trial(trial.number).status == "completed"
    # and an objective can be made of it: trials that were not measured do not count
    again = after.with_objective("full_error")
    assert {t.number for t in again.top(9)} == {t.number for t in top}
    assert again.best().number == min(found, key=lambda o: o.metrics["full_error"]).trial.number


def test_the_split_is_that_of_the_training(workload):
    seen = []

    def train_noting(run, learning_rate, max_train_steps=10, best_at=9):
        seen.append(run.seeds)
        train(run, learning_rate, max_train_steps, best_at)

    own = Workload(train_noting, workload.objective, store=workload.store, executor=Inline())
    best = run(ROUND, own).best()
    (one,) = evaluate(best, own, full)
    assert one.metrics["split"] == seen[0].split


def test_the_best_checkpoint_is_there_long_after(workload):
    early = replace(
        ROUND, name="early", fixed={"max_train_steps": 10, "best_at": 3}, trials_per_study=1
    )
    best = run(early, workload).best()
    (one,) = evaluate([best], workload, full)
    assert best.best_step == 3
    assert one.step == 3 and one.at_best_step
    assert one.metrics["saved_at"] == 3


def train_saving_seldom(run, learning_rate, max_train_steps=40, best_at=19):
    """Evaluated at every step, saved at every tenth, before the step is logged."""
    for step in run.steps(max_train_steps):
        if step % 10 == 0:
            run.save({"weight": np.array([learning_rate, step]), "distance": 0.0})
        run.log(step, valid_error=abs(step - best_at) / 100)


def test_the_best_of_those_that_were_kept_stands_in(workload):
    asked = replace(ROUND, fixed={"max_train_steps": 40, "best_at": 19}, trials_per_study=1)
    own = replace(workload, train=train_saving_seldom)
    best = run(asked, own).best()
    (one,) = evaluate([best], own, full)
    assert best.best_step == 19
    assert one.step == 20 and not one.at_best_step
    assert one.proxy == pytest.approx(0.01)


def test_again_counts_the_newest(workload):
    best = run(ROUND, workload).best()

    def measures(value):
        return lambda checkpoint: {"full_error": value}

    evaluate(best, workload, measures(0.5))
    evaluate(best, workload, measures(0.25))
    curve = load(workload.store, "rates").curves(best.number, "full_error")
    assert curve.values.tolist() == [0.25]
    with Store.open(workload.store) as store:
        recorded = store.evaluations(store.round("rates").id)
    assert [one.metrics["full_error"] for one in recorded] == [0.5, 0.25]
    assert {one.look for one in recorded} == {0}


def test_repeats_can_be_measured_too(workload):
    best = run(ROUND, workload).best()
    repeats = repeat(best, workload, times=2)
    found = evaluate(repeats, workload, full)
    assert len(found) == 2
    assert all(one.metrics for one in found)
    again = load(workload.store, "rates").repeats(best)
    assert [float(t.curves["full_error"].values[0]) for t in again] == [
        one.metrics["full_error"] for one in found
    ]


@pytest.mark.parametrize(
    ("measure", "code"),
    [
        (broken, "trial.raised"),
        (returns_nothing, "evaluation.no_metrics"),
        (the_objective_again, "evaluation.metric_taken"),
    ],
)
def test_an_evaluation_that_goes_wrong_says_why_and_records_nothing(workload, measure, code):
    best = run(ROUND, workload).best()
    (one,) = evaluate(best, workload, measure)
    assert not one.metrics
    assert one.reason.code == code
    assert one.to_data()["reason"]["code"] == code
    assert list(load(workload.store, "rates").trial(best.number).curves) == ["valid_error"]


def test_an_infeasible_trial_has_no_selected_checkpoint(workload):
    results = run(ROUND, workload)
    bad = next(t for t in results.trials if t.status == "infeasible")
    good, refused = evaluate([results.best(), bad], workload, full)
    assert good.metrics
    assert refused.reason == Message("evaluation.no_checkpoint", {"status": "infeasible"})


def test_checkpoints_of_ones_own(workload):
    own = Workload(
        train_without_saving, workload.objective, store=workload.store, executor=Inline()
    )
    best = run(ROUND, own).best()
    (one,) = evaluate(best, own, own_files)
    assert one.metrics["full_error"] == pytest.approx(3 * best.value)
    (other,) = evaluate(best, own, reads_the_state)
    assert other.reason.facts["type"] == SnapshotError.__name__


@pytest.mark.beyond_core
def test_a_command_measures_in_a_process_of_its_own(workload, tmp_path):
    program = tmp_path / "full.py"
    program.write_text(
        "import json, sys, pathlib\n"
        "place, step, rate = sys.argv[1:]\n"
        "assert (pathlib.Path(place) / 'manifest.json').is_file()\n"
        "print('reading', place)\n"
        "print(json.dumps({'step': 0, 'full_error': float(rate) / int(step)}))\n"
    )
    best = run(ROUND, workload).best()
    template = f"{sys.executable} {program} {{checkpoint}} {{step}} {{learning_rate}}"
    (one,) = evaluate(best, workload, command(template))
    assert one.reason is None
    expected = best.configuration["learning_rate"] / 9
    assert one.metrics == {"full_error": pytest.approx(expected)}
    curve = load(workload.store, "rates").curves(best.number, "full_error")
    assert curve.steps.tolist() == [9], "the checkpoint's step, whatever the program says"


@pytest.mark.beyond_core
def test_worker_processes_measure_several_at_a_time(workload):
    own = Workload(
        train, workload.objective, store=workload.store, executor=Local(workers=2, devices=[])
    )
    results = run(ROUND, workload)
    found = evaluate(results.top(3), own, full)
    assert [one.metrics["saved_at"] for one in found] == [9, 9, 9]


def test_the_test_set_is_looked_at_for_one_configuration(workload):
    results = run(ROUND, workload)
    with pytest.raises(DesignError, match="becomes a validation set"):
        evaluate(results.top(2), workload, full, test=True)
    evaluate(results.best(), workload, full, test=True)
    evaluate(repeat(results.best(), workload, times=2), workload, full, test=True)
    with Store.open(workload.store) as store:
        assert [one.look for one in store.evaluations()] == [1, 2, 2]


def test_wrong_use_is_refused_before_anything_runs(workload):
    best = run(ROUND, workload).best()
    with pytest.raises(DesignError, match=r"such as results.top\(5\)"):
        evaluate([], workload, full)
    with pytest.raises(WorkloadError, match="neither a function nor a command"):
        evaluate(best, workload, "full.py:full")


def evaluates_often(run, learning_rate, max_train_steps=200, best_at=57):
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            run.log(step, valid_error=1 + abs(step - 57) / 100)
        if run.eval_due(step) or run.save_due(step):
            run.save({"weight": np.array([learning_rate, step]), "distance": 0.0}, best=3)


def test_with_the_best_of_all_evaluations_kept_the_best_step_itself_is_measured(tmp_path):
    workload = Workload(
        evaluates_often, minimize("valid_error"), store=tmp_path / "often.db", executor=Inline()
    )
    often = replace(ROUND, fixed={"max_train_steps": 200}, trials_per_study=1)
    results = run(often, workload)
    (found,) = evaluate(results.top(1), workload, full)
    assert results.top(1)[0].best_step == 56 and found.metrics["saved_at"] == 56
