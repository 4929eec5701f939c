"""A trial trained anew: under its own seed and settings, compared, and never counted."""

from __future__ import annotations

import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.problems import codes

import tunewright as tw
from tunewright.actions import TrainAgain
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.again import files_that_differ
from tunewright.store.provenance import Provenance
from tunewright.store.store import Store

CALLS = {"shift": 0.0, "fails": False}


def train(run, learning_rate=0.1, max_train_steps=20):
    if CALLS["fails"]:
        raise ValueError("broken meanwhile")
    for step in run.steps(max_train_steps):
        value = learning_rate / step + run.seeds.init % 1000 / 1e6
        run.log(step, seconds=float(id(run)))  # differs by its nature
        if run.eval_due(step):
            late = CALLS["shift"] if step > 10 else 0.0
            run.log(step, valid_error=math.nan if learning_rate > 0.9 else value + late)


def asked(**changes) -> tw.Round:
    about = {"goal": "?", "trials_per_study": 2, "nuisance": {"learning_rate": tw.log(0.01, 0.5)}}
    return tw.Round("depth", **{**about, **changes})


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tw.Workload:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(CALLS, "shift", 0.0)
    monkeypatch.setitem(CALLS, "fails", False)
    return tw.Workload(
        train, tw.minimize("valid_error"), executor=tw.executors.Inline(), eval_every=3
    )


def test_it_is_the_same_and_is_not_counted(workload: tw.Workload, tmp_path: Path) -> None:
    results = tw.run(asked(), workload)
    best = results.best()
    other = replace(workload, eval_every=7)  # the trial had its own
    found = tw.trials.again(best, other)
    assert found.equal and found.difference == 0.0 and found.message.code == "again.equal"
    assert list(found.curves["valid_error"].steps) == [3, 6, 9, 12, 15, 18, 20]
    assert found.differing == ("seconds",)  # said, and no reason to doubt it
    assert found.folder.is_dir() and found.folder.is_relative_to(tmp_path / "again")
    after = tw.load("tuning.db", "depth")
    assert [t.identity for t in after.trials] == [t.identity for t in results.trials]
    assert after.repeats(best) == ()
    assert tw.trials.again(best, workload).folder != found.folder


def test_a_repeat_is_done_again_under_its_own_seed(workload: tw.Workload) -> None:
    results = tw.run(asked(), workload)
    repeats = tw.repeat(results.best(), workload, times=2)
    second = repeats.trials[1]
    number = results.best().number
    assert number is not None
    assert second.command == TrainAgain("depth", number, repeat=2).command
    found = tw.trials.again(second, workload)
    assert found.equal and found.trial.seed == second.seed != results.best().seed


def test_a_difference_is_measured_and_placed(workload: tw.Workload, monkeypatch) -> None:
    best = tw.run(asked(), workload).best()
    monkeypatch.setitem(CALLS, "shift", 0.25)
    found = tw.trials.again(best, workload)
    assert not found.equal and found.first_difference == 12
    assert found.message.code == "again.same_value" or found.difference is not None
    monkeypatch.setitem(CALLS, "shift", -0.25)
    found = tw.trials.again(best, workload)
    assert found.message.code == "again.differs"
    assert found.difference == pytest.approx(-0.25)


def test_an_end_of_another_kind(workload: tw.Workload, monkeypatch) -> None:
    best = tw.run(asked(), workload).best()
    monkeypatch.setitem(CALLS, "fails", True)
    found = tw.trials.again(best, workload)
    assert (found.status, found.value) == ("failed", None)
    assert found.message.code == "again.ended_differently" and "broken" in found.detail


def test_an_infeasible_trial_is_infeasible_again(workload: tw.Workload) -> None:
    round = asked(nuisance={}, fixed={"learning_rate": 1.0}, trials_per_study=1)
    trial = tw.run(round, workload).trial(0)
    found = tw.trials.again(trial, workload)
    assert trial.status == "infeasible" and found.equal


@pytest.mark.beyond_core
def test_other_code_is_refused_by_the_name_of_its_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "program.py"
    text = 'import json, sys\nprint(json.dumps({"step": 1, "e": float(sys.argv[1])}))\n'
    script.write_text(text)
    own = tw.command(f"{shlex.quote(sys.executable)} program.py {{x}} {{run.seed}} {{run.folder}}")
    workload = tw.Workload(own, tw.minimize("e"), executor=tw.Local(workers=1))
    round = tw.Round("r", goal="?", nuisance={"x": tw.linear(0, 1)}, trials_per_study=1)
    trial = tw.run(round, workload).trial(0)
    assert tw.trials.again(trial, workload).equal
    script.write_text("# a comment is no change\n" + text)
    assert tw.trials.again(trial, workload).changed == ()
    script.write_text(text.replace("argv[1])", "argv[1]) + 1"))
    with pytest.raises(WorkloadError) as refused:
        tw.trials.again(trial, workload)
    assert refused.value.code == "again.code_differs"
    assert refused.value.facts["files"] == ["program.py"]
    assert refused.value.remedy == TrainAgain("r", 0, anyway=True)
    found = tw.trials.again(trial, workload, anyway=True)
    assert found.changed == ("program.py",) and found.difference == 1.0


def test_code_that_is_not_known_is_not_refused(workload: tw.Workload) -> None:
    assert files_that_differ(None, workload) == ()
    assert files_that_differ(Provenance("", "", sources={"gone.py": "ab"}), workload) != ()


def test_what_cannot_be_done_again_is_refused(workload: tw.Workload, tmp_path: Path) -> None:
    best = tw.run(asked(), workload).best()
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    with pytest.raises(DesignError) as refused:
        tw.trials.again(best, workload, folder=tmp_path / "used")
    assert codes(refused.value) == ["again.folder_in_use"]
    with pytest.raises(DesignError) as no_trial:
        tw.trials.again(3, workload)  # type: ignore[arg-type]
    assert codes(no_trial.value) == ["again.not_a_trial"]


def test_an_imported_trial_has_no_program(workload: tw.Workload, tmp_path: Path) -> None:
    table = tmp_path / "trials.csv"
    table.write_text("learning_rate,valid_error\n0.1,0.5\n0.2,0.4\n0.3,0.6\n")
    results = tw.importers.tables(table, name="old", objective=tw.minimize("valid_error"))
    kept = tw.stores.keep("tuning.db", results)
    with pytest.raises(DesignError) as refused:
        tw.trials.again(kept.best(), workload)
    assert codes(refused.value) == ["again.imported"]


def test_a_store_answers_about_a_trial_or_its_identity(workload: tw.Workload) -> None:
    best = tw.run(asked(), workload).best()
    with Store.open("tuning.db", create=False) as store:
        assert store.provenance(best) == store.provenance(best.identity) is not None
        assert store.attempts(best) == store.attempts(best.identity) != []
        assert store.snapshots(best) == store.snapshots(best.identity)
