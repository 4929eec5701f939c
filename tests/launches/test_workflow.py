"""The verbs of a launch, by Python and by the command: the same store gives the same facts."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli.main import main
from tunewright.errors import DesignError, NotFound
from tunewright.present.envelope import plain
from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core  # whole rounds, again and again

TRAIN = '''
import math
import random


def train(run, learning_rate, layers=1, max_train_steps=20):
    """Two layers are better by 0.02; seeds move the value by 0.002."""
    luck = random.Random(run.seeds.init + layers).gauss(0, 0.002)
    for step in run.steps(max_train_steps):
        loss = 0.1 * (math.log10(learning_rate) + 1.5) ** 2 + 1 / step
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=0.3 + loss - 0.02 * layers + luck)
            run.save({"loss": loss})


def full(checkpoint):
    return {"full_error": checkpoint.state["loss"] * 1.5}


def test(checkpoint):
    return {"test_error": checkpoint.state["loss"] * 2}
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 8
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
"""
MEASURED_ANEW = {"run_seconds", "seconds", "written", "when"}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory) -> Path:
    """A project whose round `layers` has run, for tests to copy."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "train.py").write_text(TRAIN)
    (folder / "rounds").mkdir()
    (folder / "rounds" / "layers.toml").write_text(ROUND)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
        assert main(["run", "layers", "--on", "inline"]) == 0
    return folder


@pytest.fixture
def doors(tuned, tmp_path, monkeypatch, capsys):
    """Two copies of the project: a workload for Python, and a way to call the command."""
    folders = tmp_path / "python", tmp_path / "shell"
    for folder in folders:
        shutil.copytree(tuned, folder)
    found = importlib.util.spec_from_file_location("train_of_python", folders[0] / "train.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(folders[0])
    workload = tw.Workload(
        module.train,
        tw.minimize("valid_error"),
        store=folders[0] / "tuning.db",
        executor=tw.executors.Inline(),
    )

    def command(*arguments: str):
        capsys.readouterr()
        sys.modules.pop("train", None)
        with monkeypatch.context() as patch:
            patch.chdir(folders[1])
            assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["data"]

    return workload, command, module


def same(facts, other) -> None:
    """The facts of both doors, apart from what every run measures anew."""
    assert _without(plain(facts)) == _without(other)


def _without(facts):
    if isinstance(facts, dict):
        return {k: _without(v) for k, v in facts.items() if k not in MEASURED_ANEW}
    return [_without(one) for one in facts] if isinstance(facts, list) else facts


def test_launch_and_history_give_the_same_facts(doors):
    workload, command, _ = doors
    results = tw.load(workload.store, "layers")
    same(
        tw.launch(results, workload, dry_run=True).to_data(),
        command("launch", "layers", "--dry-run", "--on", "inline"),
    )
    report = tw.launch(
        results, workload, why="cheap", terms=tw.launches.LaunchTerms(complexity=0.001)
    )
    inline = ("--on", "inline")
    told = command("launch", "layers", "--why", "cheap", "--complexity", "0.001", *inline)
    same(report.to_data(), told)
    assert report.decision.verdict == "launch"
    assert report.now == report.candidate
    assert report.looks[0].runs == (3, 3)
    past = tw.history(workload.store)
    same(past.to_data(), command("history"))
    assert past.baseline.place == report.now
    assert past.launches[-1].key == report.recorded


def test_the_first_baseline_and_a_named_one_give_the_same_facts(doors):
    workload, command, _ = doors
    results = tw.load(workload.store, "layers")
    first = tw.launch(results, workload, trial=0, first=True)
    same(first.to_data(), command("launch", "layers", "--trial", "0", "--first"))
    assert first.now == first.candidate
    trial = results.best(layers=2)
    terms = tw.launches.LaunchTerms(plan=3, claim="hyperparameters")
    named = tw.launch(trial, workload, against=results.best(layers=1), terms=terms)
    numbers = [str(results.best(layers=n).number) for n in (2, 1)]
    told = command(
        *("launch", "layers", "--trial", numbers[0], "--baseline", numbers[1]),
        *("--times", "3", "--claim", "hyperparameters", "--on", "inline"),
    )
    same(named.to_data(), told)
    assert named.plan.why_baseline.code == "launch.baseline_named"


def test_variance_gives_the_same_facts(doors):
    workload, command, _ = doors
    results = tw.load(workload.store, "layers")
    same(tw.launches.variance(results).to_data(), command("variance", "layers"))
    asked = {"times": 3, "studies": 3, "splits": 3}
    options = [word for name, n in asked.items() for word in (f"--{name}", str(n))]
    measured = tw.launches.variance(results, workload, **asked)
    same(measured.to_data(), command("variance", "layers", *options, "--on", "inline"))
    assert measured.trial.how.facts == {"repeats": 3}
    assert tw.launches.variance(results).to_data() == measured.to_data()


def test_evaluate_and_the_final_test_give_the_same_facts(doors):
    workload, command, module = doors
    results = tw.load(workload.store, "layers")
    measured = tw.trials.evaluate(results.top(2), workload, module.full)
    told = command(
        *("evaluate", "layers", "--top", "2", "--with", "train.py:full", "--on", "inline")
    )
    same([one.to_data() for one in measured], told)
    final = tw.launches.final_test(results, workload, module.test)
    told = command("final", "layers", "--with", "train.py:test")
    told["evaluation"]["with_"] = final.evaluation.with_  # the module has another name here
    told["evaluation"]["workload"] = final.evaluation.workload
    same(final.to_data(), told)
    assert tw.launches.final_test(results, workload, module.test).looks_before == 1


def test_what_cannot_be_launched_is_refused_before_anything_runs(doors):
    workload, _, _ = doors
    results = tw.load(workload.store, "layers")
    with pytest.raises(NotFound, match="layes"):
        tw.launch(results, workload, against="layes")
    with pytest.raises(DesignError, match="baseline already"):
        tw.launch(results, workload, trial=3, against=3)
    with pytest.raises(DesignError, match="give results"):
        tw.launch("layers", workload)
    with pytest.raises(DesignError, match="give the workload"):
        tw.launches.variance(results, times=3)
    with pytest.raises(DesignError, match="splits=2"):
        tw.launches.LaunchTerms(splits=2)
    with pytest.raises(DesignError, match="plan=0"):
        tw.launches.LaunchTerms(plan=0)
    with Store.open(workload.store) as store:
        assert not store.results("layers").recorded_repeats
        assert [one.name for one in store.rounds()] == ["layers"]
        assert store.launches() == [] and store.baselines() == []
