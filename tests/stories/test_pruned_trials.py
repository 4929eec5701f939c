"""A round with pruned trials through every door: checks, pages, exports, search, launch."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.checks.positions import losses_of, study_trials
from tunewright.cli.main import main
from tunewright.errors import DesignError
from tunewright.execution.executors import inline
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.history import history
from tunewright.search.search import search_trials
from tunewright.stats.early_stopping import LEAST
from tunewright.store.joined import joined
from tunewright.store.results import Results

pytestmark = pytest.mark.beyond_core

TRAIN = """
from time import sleep


def train(run, level, max_train_steps=60):
    for step in run.steps(max_train_steps):
        if run.number >= {slow}:
            sleep(0.005)
        run.log(step, err=level + 0.1 * (1 - step / max_train_steps) ** 4)
"""
ROUND = """
goal = "Which level?"
trials_per_study = {trials}
[nuisance]
level = {{ linear = [0.1, 1.0] }}
[fixed]
max_train_steps = 60
"""


def project_in(folder: Path, trials: int = LEAST + 24) -> None:
    (folder / "train.py").write_text(TRAIN.format(slow=LEAST + 8))
    (folder / "rounds").mkdir()
    (folder / "rounds" / "levels.toml").write_text(ROUND.format(trials=trials))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose round ended with pruned trials, by the shell."""
    folder = tmp_path_factory.mktemp("pruned")
    project_in(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        patch.setattr(inline, "GLANCE_S", 0.01)
        sys.modules.pop("train", None)
        assert main(["init", "train.py:train", "--minimize", "err"]) == 0
        assert main(["run", "levels", "--early-stopping", "--on", "inline"]) == 0
        yield folder


@pytest.fixture
def results(made: Path) -> Results:
    found = tw.load(made / "tuning.db", "levels")
    assert set(found.counts) == {"completed", "pruned"}
    return found


def pruned_of(results: Results) -> list[Any]:
    return [trial for trial in results.trials if trial.status == "pruned"]


def shell(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    capsys.readouterr()
    code = main([*argv, "--json"])
    envelope = json.loads(capsys.readouterr().out)
    assert code in (0, 1, 3) and envelope["ok"], envelope
    return envelope["data"]


def test_python_and_shell_stop_the_same_trials(
    made: Path, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inline, "GLANCE_S", 0.01)
    sys.modules.pop("train", None)
    project = tw.project.init("train.py:train", minimize="err")
    workload = project.workload(executor=tw.executors.Inline())
    ours = tw.run(project.round("levels"), workload, progress="off", early_stopping=True)
    facts = [(t.number, t.status, t.reason and t.reason.to_data(), t.value) for t in ours.trials]
    assert facts == [
        (t.number, t.status, t.reason and t.reason.to_data(), t.value) for t in results.trials
    ]
    assert pruned_of(ours)


def test_checks_count_a_pruned_trial_as_no_better_than_its_bound(results: Results) -> None:
    pruned = pruned_of(results)
    (own,) = study_trials(results)
    assert len(own.trials) == len(results.trials)
    losses = dict(zip([t.number for t in own.trials], losses_of(results, own.trials), strict=True))
    for trial in pruned:
        assert losses[trial.number] == trial.reason.facts["bound"] > results.best().value
    findings = {finding.check: finding for finding in tw.check(results)}
    assert findings["infeasible"].verdict == "ok"
    assert findings["boundary"].verdict == "warn"  # the lowest level is best: they are all data
    other = results.with_objective("unheard_of", minimize=True)
    assert [t.bound_of("unheard_of") for t in pruned_of(other)] == [None] * len(pruned)


def test_the_search_receives_the_bound(results: Results) -> None:
    pruned = pruned_of(results)
    (study,) = results.studies
    received = {t.number: t for t in search_trials(results, study)}
    assert [received[t.number].value for t in pruned] == [t.bound_of("err") for t in pruned]
    known = history(study, list(received.values()))
    assert len(known.rows) == len(results.trials) and not len(known.waiting)
    suggested = Bayesian().suggest(study, list(received.values()), 1)
    assert len(suggested) == 1


def test_a_later_round_joins_pruned_trials(results: Results) -> None:
    later = Results.from_parts(results.round, results.objective, ())
    assert len(pruned_of(joined(later, results))) == len(pruned_of(results))


def test_pages_name_pruned_trials(
    made: Path, results: Results, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pruned = pruned_of(results)
    (row,) = shell(capsys, "ls")["rounds"]
    assert row["counts"]["pruned"] == len(pruned)
    shown = shell(capsys, "show", "levels")
    assert shown["counts"]["pruned"] == len(pruned)
    trial = shell(capsys, "trial", "levels", str(pruned[0].number))["trial"]
    assert trial["status"] == "pruned" and trial["reason"]["code"] == "trial.pruned"
    out = tmp_path / "trials.csv"
    shell(capsys, "export", "levels", str(out))
    assert out.read_text().count("pruned") >= len(pruned)
    for words in (["ls"], ["show", "levels"], ["trial", "levels", str(pruned[0].number)]):
        assert main(words) in (0, 1)
        assert "pruned" in capsys.readouterr().out
    page = tmp_path / "report.html"
    tw.report(results, page)
    assert "pruned" in page.read_text()


def test_a_pruned_candidate_is_refused(made: Path, results: Results) -> None:
    workload = tw.project.load(made).workload(executor=tw.executors.Inline())
    number = pruned_of(results)[0].number
    asked: tuple[dict[str, Any], ...] = ({"first": True}, {"against": results.best().number})
    for terms in asked:
        with pytest.raises(DesignError) as refused:
            tw.launch(results, workload, trial=number, **terms)
        assert refused.value.code == "launch.candidate_pruned"
        assert refused.value.facts["trial"] == number
        assert refused.value.remedy is not None and refused.value.remedy.argv[1] == "again"


def test_a_pruned_trial_is_trained_anew_on_purpose(
    made: Path, results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    sys.modules.pop("train", None)
    number = str(pruned_of(results)[-1].number)
    data = shell(capsys, "again", "levels", number, "--on", "inline")
    assert data["recorded"]["status"] == "pruned" and data["status"] == "completed"
    assert data["value"] is not None


def test_time_is_saved(results: Results) -> None:
    steps = [int(t.curves["err"].steps[-1]) for t in pruned_of(results)]
    assert max(steps) < 60
