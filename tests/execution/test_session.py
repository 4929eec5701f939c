"""Ask and tell in one process: what is asked, told, refused and given back."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest
from tests.execution.asking import OBJECTIVE, finish, rounds
from tests.execution.supervised import Halving

from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError, RoundChanged, TunewrightError, WorkloadError
from tunewright.execution.run import load
from tunewright.execution.session import open_round
from tunewright.messages import Message
from tunewright.store.store import Store

DEADLINE_S = 120.0
ONE = {"trials_per_study": 5}


@pytest.fixture
def store(tmp_path):
    return tmp_path / "tuning.db"


def test_every_trial_is_asked_once_and_then_none(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        numbers = []
        while (trial := session.ask()) is not None:
            numbers.append(trial.number)
            assert trial.configuration.keys() == {"layers", "learning_rate", "width"}
            for step in (1, 2):
                trial.log(step, valid_error=trial.configuration["learning_rate"] / step)
            trial.finish()
            assert trial.status == "completed"
        assert numbers == list(range(6))
        assert session.ask() is None
        assert session.ask(3) == []
        results = session.results()
    assert results.counts == {"completed": 6}
    smallest = min(t.configuration["learning_rate"] for t in results.trials)
    assert results.best().value == smallest / 2
    assert results.best().best_step == 2


def test_ask_with_a_count_always_gives_a_list(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        (one,) = session.ask(1)
        several = session.ask(4)
        last = session.ask(4)
        assert [one.number, *(t.number for t in several + last)] == list(range(6))
        for trial in [one, *several, *last]:
            finish(trial)
        for wrong in (0, -1, True):
            with pytest.raises(DesignError, match="ask"):
                session.ask(wrong)


def test_configurations_and_seeds_are_those_of_run(store, tmp_path):
    """Points depend on the seed and the search space alone, not on who asks."""
    with open_round(rounds(), OBJECTIVE, store) as session:
        asked = [(t.configuration, t.seeds) for t in session.ask(6)]
    with open_round(rounds(), OBJECTIVE, tmp_path / "other.db") as session:
        again = [(t.configuration, t.seeds) for t in session.ask(6)]
    assert asked == again
    assert asked[0][1] == asked[1][1], "studies share their seeds at the same index"
    assert asked[0][1] != asked[2][1]


def test_infeasible_and_failed(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        a, b, c = session.ask(3)
        a.infeasible("heads do not divide width")
        b.log(1, valid_error=0.5)
        b.fail("the data are gone")
        c.finish()
        assert (a.status, b.status, c.status) == ("infeasible", "failed", "failed")
        results = session.results()
    said = Message("trial.infeasible", {"text": "heads do not divide width"})
    assert results.trial(0).reason == said
    assert results.trial(1).reason == Message("trial.failed", {"text": "the data are gone"})
    assert results.trial(1).curves["valid_error"].values.tolist() == [0.5]
    assert results.trial(2).reason.code == "objective.never_logged"


@pytest.mark.parametrize(
    "text",
    [
        "the objective service died; the true value was never logged",
        "the objective valid_error was never logged",
        "",
    ],
)
def test_what_fail_is_told_decides_nothing(store, text):
    """A reason is a code: no wording of a failed trial makes it completed."""
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        trial.log(1, valid_error=0.5)
        trial.fail(text)
        results = session.results()
    failed = results.trial(0)
    assert (failed.status, failed.value) == ("failed", None)
    assert failed.reason == Message("trial.failed", {"text": text})
    assert load(store, "depth").trial(0).status == "failed"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("metric", ["valid_error", "train_loss"])
def test_a_diverged_trial_is_infeasible_and_the_program_goes_on(store, metric, value):
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        trial.log(1, valid_error=0.5)
        assert not trial.diverged
        trial.log(2, {metric: value})
        assert trial.diverged
        trial.finish()
        assert trial.status == "infeasible"
        finish(session.ask())
        results = session.results()
    reason = results.trial(0).reason
    assert (reason.code, reason.facts["metric"]) == ("metric.not_finite", metric)
    assert results.best().number == 1


@pytest.mark.parametrize(
    "value", [None, "0.5", 1j, {}, True, np.array([0.5]), 10**400], ids=lambda v: type(v).__name__
)
def test_what_is_no_number_is_refused_and_nothing_is_recorded(store, value):
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        with pytest.raises(WorkloadError, match="valid_error"):
            trial.log(1, valid_error=value)
        trial.log(1, valid_error=np.float32(0.25))
        trial.finish()
        assert session.results().trial(0).value == 0.25


def test_steps_never_go_back_and_names_are_text(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        trial.log(400, valid_error=0.5)
        with pytest.raises(WorkloadError, match="step 300 after step 400"):
            trial.log(300, valid_error=0.4)
        with pytest.raises(WorkloadError, match="cannot name a metric"):
            trial.log(500, {"": 1.0})
        with pytest.raises(WorkloadError, match="unprintable"):
            trial.log(500, {"a\nb": 1.0})
        with pytest.raises(WorkloadError, match="whole number"):
            trial.log(1.5, valid_error=0.5)
        trial.finish()
        with pytest.raises(WorkloadError, match="completed already"):
            trial.log(500, valid_error=0.5)
        with pytest.raises(WorkloadError, match="completed already"):
            trial.fail("too late")


def test_unfinished_trials_go_back_when_the_block_is_left(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        finish(session.ask())
        session.ask().log(1, valid_error=0.5)
    assert load(store, "depth").counts == {"completed": 1, "pending": 5}
    with pytest.raises(ZeroDivisionError), open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        assert (trial.number, trial.attempt) == (1, 2)
        raise ZeroDivisionError
    with pytest.raises(KeyboardInterrupt), open_round(rounds(), OBJECTIVE, store) as session:
        session.ask()
        raise KeyboardInterrupt
    with open_round(rounds(), OBJECTIVE, store) as session:
        trials = session.ask(10)
        assert [t.number for t in trials] == [1, 2, 3, 4, 5]
        assert trials[0].attempt == 4
        for trial in trials:
            finish(trial)
    assert load(store, "depth").counts == {"completed": 6}


def test_a_closed_session_says_so(store):
    session = open_round(rounds(), OBJECTIVE, store)
    session.close()
    session.close()
    for use in (session.ask, session.results, lambda: session.add({})):
        with pytest.raises(TunewrightError, match="closed"):
            use()


def test_a_configuration_of_ones_own(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        finish(session.ask())
        trial = session.add({"layers": 2, "learning_rate": 0.01})
        assert trial.number == 6
        assert trial.configuration == {"layers": 2, "learning_rate": 0.01, "width": 8}
        finish(trial, 0.125)
        results = session.results()
        for wrong, says in [
            ({"layers": 2, "learning_rate": 5.0}, "learning_rate"),
            ({"layers": 3, "learning_rate": 0.01}, "none of the studies"),
            ({"learning_rate": 0.01}, "2 of the studies"),
            ({"layers": 2, "learning_rate": 0.01, "widht": 8}, "Did you mean 'width'"),
            ({"layers": 2, "learning_rate": 0.01, "width": 9}, "fixes it at"),
        ]:
            with pytest.raises(DesignError, match=says):
                session.add(wrong)
    assert results.best().number == 6
    assert results.trial(6).index is None
    assert results.trial(6).search == "added"


def test_an_adaptive_search_learns_from_what_is_told(store):
    search = Halving()
    with open_round(rounds(), OBJECTIVE, store, search=search) as session:
        while (trial := session.ask()) is not None:
            finish(trial)
        assert [t.unit["learning_rate"] for t in session.results().of(0)] == [0.5, 0.25, 0.125]
    assert search.asked[-1] == [(1, "completed"), (3, "completed")]


def test_a_changed_round_is_refused(store):
    with open_round(rounds(), OBJECTIVE, store):
        pass
    with pytest.raises(RoundChanged, match="width"):
        open_round(rounds(fixed={"width": 9}), OBJECTIVE, store)
    with pytest.raises(DesignError, match="seed"):
        open_round(rounds(fixed={"seed": 9}), OBJECTIVE, store)


def test_the_trial_folder_is_made_when_it_is_asked_for(store):
    with open_round(rounds(), OBJECTIVE, store) as session:
        a, b, _ = session.ask(3)
        assert (a.folder / "trial.json").exists()
        assert len(list(Path(f"{store}.trials").glob("r*/t*"))) == 1
        finish(a)
        finish(b)
    ended = [p.parent.name for p in Path(f"{store}.trials").glob("r*/t*/result.1.json")]
    assert len(ended) == 3, "with its end, each leaves what a lost store is made again from"


def test_long_trials_are_seen_while_they_run(store, monkeypatch):
    monkeypatch.setattr("tunewright.execution.account.FLUSH_S", 0.0)
    monkeypatch.setattr("tunewright.execution.account.FLUSH_SHARE", 0.0)
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        trial.log(1, valid_error=0.5)
        trial.log(2, valid_error=0.4)
        seen = session.results().trial(0)
        assert seen.status == "running"
        assert seen.curves["valid_error"].values.tolist() == [0.5, 0.4]


def test_a_late_result_is_refused_logged_and_the_session_goes_on(store, caplog):
    """Another owner took the trial over meanwhile (case 6)."""
    with open_round(rounds(), OBJECTIVE, store) as session:
        late = session.ask()
        late.log(1, valid_error=0.125)
        with Store.open(store) as other, other._database.writing() as connection:
            connection.exec_driver_sql("UPDATE trial SET worker = -1, attempt = 2 WHERE number = 0")
        late.finish()
        assert "no longer this process's" in caplog.text
        assert session.results().trial(0).status == "running"
        assert len(session.results().trial(0).curves) == 0
        finish(session.ask())


def test_one_that_was_taken_for_dead_asks_on_under_a_new_name(store, monkeypatch, caplog):
    """A laptop that slept: its trials were given away, and it goes on with others."""
    monkeypatch.setenv("TUNEWRIGHT_LEASE_S", "0.5")
    with open_round(rounds(), OBJECTIVE, store) as session:
        lost = session.ask()
        with Store.open(store) as other, other._database.writing() as connection:
            connection.exec_driver_sql("UPDATE worker SET retired = 1")
        deadline = time.monotonic() + DEADLINE_S
        while session._desk._heartbeat.lost is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        trials = session.ask(10)
        assert [t.number for t in trials] == [1, 2, 3, 4, 5]
        again = session.ask()
        assert (again.number, again.attempt) == (0, 2)
        finish(lost, 0.125)
        for trial in (*trials, again):
            finish(trial)
        assert session.results().trial(0).value == 0.5, "the late result was refused"
    assert "taken for dead" in caplog.text
    assert load(store, "depth").counts == {"completed": 6}


@pytest.mark.postgres
def test_on_a_server_without_a_folder_of_trials(new_postgres_url):
    store = new_postgres_url()
    with open_round(rounds(), OBJECTIVE, store) as session:
        trials = session.ask(6)
        with pytest.raises(WorkloadError, match="folder="):
            _ = trials[0].folder
        for trial in trials[:5]:
            finish(trial)
    assert load(store, "depth").counts == {"completed": 5, "pending": 1}
    with open_round(rounds(), OBJECTIVE, store) as session:
        trial = session.ask()
        assert (trial.number, trial.attempt) == (5, 2)
        finish(trial)
    assert load(store, "depth").counts == {"completed": 6}


@pytest.mark.postgres
def test_on_a_server_with_a_folder_of_trials(new_postgres_url, tmp_path):
    store = new_postgres_url()
    with open_round(rounds(), OBJECTIVE, store, folder=tmp_path / "trials") as session:
        assert (session.ask().folder / "trial.json").exists()
    with open_round(rounds(), OBJECTIVE, store) as session:
        assert session.ask().folder.is_relative_to(tmp_path / "trials"), "it stays where it began"


def test_names_are_read_by_their_spelling_and_guarded(store):
    asked = Round("r", goal="?", nuisance={"lr": log(1e-3, 1.0)}, fixed={"epochs": 3}, **ONE)
    with open_round(asked, OBJECTIVE, store) as session:
        (note,) = session.notes
        assert note.code == "meaning.guessed"
        assert note.facts["means"] == {"learning_rate": "lr", "max_train_steps": "epochs"}
        finish(session.ask())
        assert session.results().meaning.of("lr") == "learning_rate"
        assert session.results().notes == (note.text,)
    with open_round(asked, OBJECTIVE, store) as session:
        assert len(session.results().notes) == 1  # once


def test_undeclared_lengths_and_batch_sizes_are_refused(store):
    asked = Round("r", goal="?", nuisance={"epochs": [1, 2], "bs": [8, 16]}, **ONE)
    with pytest.raises(DesignError) as refused:
        open_round(asked, OBJECTIVE, store)
    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["guard.searched_steps", "guard.tuned_batch_size"]
    free = {"max_train_steps": None, "batch_size": None}
    with open_round(asked, OBJECTIVE, store, means=free, off={"bs": 8}) as session:
        assert session.results().meaning.off == {"bs": 8}


def test_declared_names_must_be_the_rounds(store):
    asked = Round("r", goal="?", nuisance={"horizon": [1, 2]}, **ONE)
    with pytest.raises(DesignError) as refused:
        open_round(asked, OBJECTIVE, store, means={"max_train_steps": "horizont"})
    (problem,) = refused.value.problems
    assert (problem.code, problem.facts["near"]) == ("meaning.not_taken", "horizon")
    with pytest.raises(DesignError) as refused:
        open_round(asked, OBJECTIVE, store, means={"max_train_steps": "horizon"})
    assert [problem.code for problem in refused.value.problems] == ["guard.searched_steps"]
