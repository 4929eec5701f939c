"""Studies that Optuna itself made, in SQLite, in a journal file and in PostgreSQL."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tunewright import importers
from tunewright.checks.checklist import check
from tunewright.design.conditions import Given
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import Choice, Integers, Linear, Log
from tunewright.errors import DesignError, NotFound, Unreadable
from tunewright.finding import NotJudged
from tunewright.messages import Message
from tunewright.present.next_step import next_steps
from tunewright.present.report_parts import trial_rows
from tunewright.present.terminal.round_page import counts_line, remarks
from tunewright.present.terminal.trial_page import facts
from tunewright.search.bayesian.history import history
from tunewright.search.search import search_trials
from tunewright.store.judge import not_finite
from tunewright.store.results import Results
from tunewright.store.store import Store

optuna = pytest.importorskip("optuna")


@pytest.fixture(autouse=True)
def quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def train(trial: Any) -> float:
    """A trial that reports, may be pruned, may diverge, and may break."""
    rate = trial.suggest_float("lr", 1e-5, 1.0, log=True)
    trial.suggest_int("layers", 1, 4)
    trial.suggest_float("dropout", 0.0, 0.5, step=0.1)
    trial.suggest_int("width", 32, 256, step=32)
    if trial.suggest_categorical("optimizer", ["adam", "sgd"]) == "sgd":
        trial.suggest_float("momentum", 0.0, 0.99)
    trial.set_user_attr("parameters", 1000)
    trial.set_user_attr("note", "a text")
    for step in (10, 20, 30):
        trial.report(rate + 1 / step, step)
        if trial.number == 3 and step == 20:
            raise optuna.TrialPruned
        if trial.number == 4 and step == 20:
            trial.report(float("nan"), 25)
            return float("nan")
    if trial.number == 5:
        raise KeyError("broken")
    return rate + 1 / 30


def made(storage: Any, name: str = "width", trials: int = 12) -> Any:
    study = optuna.create_study(
        storage=storage, study_name=name, sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.optimize(train, n_trials=trials, catch=(KeyError,))
    return study


def check_alike(found: Results, study: Any) -> None:
    """Everything Optuna knows of the study."""
    assert found.round.name == "width"
    assert found.round.goal == Message("goal.imported", {"origin": "the Optuna study 'width'"})
    assert len(found.trials) == 12
    assert found.best().number == study.best_trial.number
    assert found.best().value == study.best_value
    assert dict(found.best().configuration) == study.best_params
    nuisance = found.round.nuisance
    assert nuisance["lr"] == Log(1e-5, 1.0)
    assert nuisance["layers"] == Integers(1, 4)
    assert nuisance["width"] == Choice(tuple(range(32, 257, 32)))
    assert isinstance(nuisance["dropout"], Choice) and len(nuisance["dropout"].values) == 6
    assert isinstance(nuisance["optimizer"], Given)
    assert dict(nuisance["optimizer"].branches)["sgd"] == {"momentum": Linear(0.0, 0.99)}
    for ours, theirs in zip(found.trials, study.trials, strict=True):
        assert ours.curves["value"].steps.tolist() == sorted(theirs.intermediate_values)
        assert ours.unit == found.studies[0].unit(ours.configuration)
    assert found.trial(0).curves["parameters"].values.tolist() == [1000.0]
    assert "note" not in found.metrics
    assert found.trial(0).seconds == pytest.approx(study.trials[0].duration.total_seconds())


def test_a_sqlite_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    study = made(url)
    for address in (url, str(tmp_path / "optuna.db")):
        check_alike(importers.optuna(address, "width"), study)


def test_a_journal_file(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.log")
    backend = optuna.storages.journal.JournalFileBackend(path)
    study = made(optuna.storages.JournalStorage(backend))
    check_alike(importers.optuna(path), study)


@pytest.mark.postgres
def test_a_postgresql_study(new_postgres_url: Callable[[], str]) -> None:
    url = new_postgres_url()
    storage = optuna.storages.RDBStorage(url.replace("postgresql://", "postgresql+psycopg://", 1))
    study = made(storage)
    check_alike(importers.optuna(url, "width"), study)
    storage.remove_session()
    storage.engine.dispose()


def test_states_are_taken_over_honestly(tmp_path: Path) -> None:
    made(f"sqlite:///{tmp_path}/optuna.db")
    found = importers.optuna(str(tmp_path / "optuna.db"))
    pruned, diverged, broken = (found.trial(number) for number in (3, 4, 5))
    assert (pruned.status, pruned.value) == ("pruned", None)
    assert pruned.reason == Message("trial.pruned", {"step": 20})
    assert len(pruned.curves["value"]) == 2, "what it reported is kept"
    assert diverged.status == "infeasible"
    assert diverged.reason == not_finite("value", math.nan, 25)
    assert (broken.status, broken.value) == ("failed", None)
    assert broken.reason is not None and broken.reason.code == "foreign.no_reason"
    assert Message("imported.pruned", {"count": 1}) in found.notes
    assert Message("imported.sampler_unknown") in found.notes
    assert found.search == "optuna"
    assert importers.optuna(str(tmp_path / "optuna.db"), search="random").search == "random"


def test_pruned_trials_are_shown_as_pruned_everywhere(tmp_path: Path) -> None:
    """Censored: neither failed nor infeasible, and no observation for a search."""
    made(f"sqlite:///{tmp_path}/optuna.db")
    found = importers.optuna(str(tmp_path / "optuna.db"))
    assert found.counts == {"completed": 9, "pruned": 1, "infeasible": 1, "failed": 1}
    assert found.infeasible_fraction == pytest.approx(1 / 10)
    assert "1 pruned" in counts_line(found)
    (shown,) = [text for status, text in remarks(found) if status == "pruned"]
    assert shown.startswith("1 of 12: pruned (trial 3)")
    table = trial_rows(found)
    (row,) = [row for row in table.rows if row.number == 3]
    value = row.cells[[column.kind for column in table.columns].index("value")]
    assert (row.status, value.text) == ("pruned", "")
    rows = json.loads(found.export(tmp_path / "out.json").read_text())
    assert (rows[3]["status"], rows[3]["reason_code"]) == ("pruned", "trial.pruned")
    assert rows[3]["value"] is None
    with Store.open(tmp_path / "kept.db") as store:
        store.keep(found)
        kept = store.results(found.round.name)
    assert kept.counts == found.counts and kept.trial(3).reason == found.trial(3).reason
    for study in found.studies:
        read = history(study, search_trials(found, study))
        own = [trial.status for trial in found.of(study)]
        assert len(read.rows) == own.count("completed") + own.count("infeasible")
        assert len(read.waiting) == own.count("pruned") + own.count("failed")
        assert int(np.isnan(read.values).sum()) == own.count("infeasible")


def test_an_adaptive_import_is_not_told_what_is_false(tmp_path: Path) -> None:
    """All trials have ended and five hyperparameters were searched; nobody can run more here."""
    made(f"sqlite:///{tmp_path}/optuna.db")
    found = importers.optuna(str(tmp_path / "optuna.db"))
    with Store.open(tmp_path / "kept.db") as store:
        store.keep(found)
        kept = store.results(found.round.name)
    for results in (found, kept):
        assert results.imported
        findings = {finding.check: finding for finding in check(results)}
        why = findings["infeasible"].evidence
        assert isinstance(why, NotJudged) and why.why.facts["adaptive"] == 10
        why = findings["sensitivity"].evidence
        assert isinstance(why, NotJudged)
        assert (why.why.code, why.why.facts["adaptive"]) == ("sensitivity.few_trials", 10)
        actions = [action for finding in findings.values() for action in finding.actions]
        assert actions and not any(action.trains for action in actions)
        assert not any(step.action.trains for step in next_steps(results))
        assert next_steps(results)[0].why.code == "next.failed_elsewhere"
    shown = dict(facts(kept, kept.trial(5)))
    assert "folder" not in shown and "seed" not in shown


def test_an_unfinished_trial_is_left_out_and_a_grid_is_known(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    sampler = optuna.samplers.GridSampler({"x": [1.0, 2.0]})
    study = optuna.create_study(storage=url, study_name="grid", sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 3), n_trials=2)
    study.ask()
    found = importers.optuna(url)
    assert len(found.trials) == 2 and found.search == "grid"
    assert found.notes == (Message("imported.unfinished", {"count": 1}),)


def test_the_value_is_found_among_the_reported_ones(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"

    def trained(trial: Any, pick: Callable[[list[float]], float]) -> float:
        values = [trial.suggest_float("x", 0, 1) + abs(step - 2) for step in range(5)]
        for step, value in enumerate(values):
            trial.report(value, step)
        return pick(values)

    for name, pick in (("last", lambda v: v[-1]), ("best", min), ("other", lambda v: 7 * v[0])):
        study = optuna.create_study(storage=url, study_name=name)
        study.optimize(lambda trial, pick=pick: trained(trial, pick), n_trials=4)
        found = importers.optuna(url, name)
        assert found.best().value == study.best_value
        if name == "other":
            assert set(found.metrics) == {"value", "intermediate_value"}
            assert found.with_objective("intermediate_value").best().best_step == 2
        else:
            assert found.objective.at == name and found.metrics == ("value",)


def test_an_objective_without_a_name_takes_the_one_that_is_said(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    study = made(url)
    found = importers.optuna(url, objective=minimize("loss"))
    assert (found.objective.metric, found.objective.at) == ("loss", "last")
    assert found.best().number == study.best_trial.number
    assert found.best().value == study.best_value
    assert set(found.metrics) == {"loss", "parameters"}
    attribute = importers.optuna(url, objective=minimize("parameters"))
    assert set(attribute.metrics) == {"value", "parameters"}, "a user attribute stays one"
    with pytest.raises(DesignError) as refused:
        importers.optuna(url, objective=maximize("loss"))
    assert refused.value.code == "importers.direction_differs"
    assert refused.value.facts["study_direction"] == "minimize"


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_several_objectives_constraints_and_names(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    study = optuna.create_study(storage=url, study_name="two", directions=["maximize", "minimize"])
    study.set_metric_names(["accuracy", "latency"])
    for x in (0.1, 0.4, 0.9):
        study.enqueue_trial({"x": x})

    def train_small(trial: Any) -> tuple[float, float]:
        x = trial.suggest_float("x", 0, 1)
        if hasattr(trial, "set_constraint"):
            trial.set_constraint("size", x - 0.5)
        else:  # before Optuna 5
            trial.set_system_attr("constraints", [x - 0.5])
        return x, 1.0

    study.optimize(train_small, n_trials=3)
    found = importers.optuna(url)
    assert str(found.objective) == "maximize accuracy (last)"
    assert found.best().configuration == {"x": 0.4}
    assert found.trial(2).status == "infeasible"
    broken = found.trial(2).reason
    assert broken is not None and broken.code == "constraint.broken"
    assert broken.facts["metric"].startswith("constraint_")
    assert (broken.facts["value"], broken.facts["limit"]) == (pytest.approx(0.4), 0.0)
    assert importers.optuna(url, objective=minimize("latency")).best().value == 1.0
    with pytest.raises(DesignError, match=r"no metric 'accuracies'\. Did you mean 'accuracy'"):
        importers.optuna(url, objective=maximize("accuracies"))


def test_a_study_must_be_there(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    made(url, "width", trials=1)
    optuna.create_study(storage=url, study_name="depth")
    with pytest.raises(NotFound, match=r"holds 2 studies: choose one\. There is: width, depth"):
        importers.optuna(url)
    with pytest.raises(NotFound, match=r"no study 'widht'\. Did you mean 'width'"):
        importers.optuna(url, "widht")
    with pytest.raises(NotFound, match="holds no trial that has ended"):
        importers.optuna(url, "depth")
    with pytest.raises(NotFound, match="no Optuna storage at"):
        importers.optuna(f"sqlite:///{tmp_path}/other.db")
    assert not (tmp_path / "other.db").exists(), "nothing is created by reading"


@pytest.mark.parametrize("damage", ["DELETE FROM version_info", "DROP TABLE alembic_version"])
def test_a_storage_is_never_changed(tmp_path: Path, damage: str) -> None:
    """Optuna adds what it misses to a file that it opens."""
    path = tmp_path / "optuna.db"
    made(f"sqlite:///{path}", trials=2)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with contextlib.suppress(Unreadable):
        importers.optuna(str(path))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_server_that_cannot_be_reached_is_named_without_its_password() -> None:
    with pytest.raises(Unreadable) as refused:
        importers.optuna("postgresql://u:secret@127.0.0.1:1/db")
    assert refused.value.facts["path"] == "127.0.0.1:1/db"
    assert "secret" not in str(refused.value)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(NotFound, match="not one of Optuna's"):
        importers.optuna(str(path))
    assert path.read_bytes() == before
    text = tmp_path / "text.log"
    text.write_text("hello\nworld\n")
    with pytest.raises(Unreadable, match="a storage of Optuna"):
        importers.optuna(str(text))
