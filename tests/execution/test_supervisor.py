"""The supervisor's loop: what is claimed, told, recorded, and left on the disk."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from tests.execution.supervised import Halving, rounds, train, workloads_in
from tests.execution.watching import Kept, Scripted, completed

from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import log
from tunewright.errors import DesignError, RoundChanged, StoreError
from tunewright.execution.run import load, run, supervise
from tunewright.execution.workload import Workload
from tunewright.search.listed import Listed
from tunewright.store.spool import results_in
from tunewright.store.store import Store


@pytest.fixture
def workload(tmp_path):
    return workloads_in(tmp_path)


def test_a_round_runs_to_its_end(workload, tmp_path):
    results = run(rounds(), workload())
    assert results.counts == {"completed": 6}
    assert [t.number for t in results.trials] == list(range(6))
    assert [t.study for t in results.trials] == [0, 1, 0, 1, 0, 1]
    best = results.best()
    assert best.configuration["layers"] == 1
    assert best.value == min(t.value for t in results.trials)
    assert best.best_step == 3
    assert load(tmp_path / "tuning.db", "depth").best().number == best.number


def test_the_watcher_is_told_everything_in_order(workload):
    watch = Kept()
    results = supervise(rounds(), workload(), watch=watch)
    assert watch.told[0] == ("began", "depth", 6, 0)
    assert [s.number for s in watch.all("claimed")] == list(range(6))
    ended = watch.all("ended")
    assert [(c.number, c.value) for c in ended] == [(t.number, t.value) for t in results.trials]
    values = [c.value for c in watch.all("best")]
    assert values == sorted(values, reverse=True)
    assert values[-1] == results.best().value
    assert watch.summary.why == "finished"
    assert watch.summary.whole
    assert watch.summary.ended == 6


def test_best_goes_up_when_the_objective_is_maximized(workload):
    watch = Kept()
    results = supervise(rounds(), workload(objective=maximize("valid_error")), watch=watch)
    values = [c.value for c in watch.all("best")]
    assert values == sorted(values)
    assert values[-1] == results.best().value


def test_a_best_trial_of_before_is_remembered(workload):
    supervise(rounds(), workload(), trials=5)
    best = load(workload().store, "depth").best().value
    watch = Kept()
    results = supervise(rounds(), workload(), watch=watch)
    assert watch.told[0] == ("began", "depth", 6, 5)
    improved = results.best().value < best
    assert len(watch.all("best")) == int(improved)


def test_the_same_call_again_trains_nothing(workload, tmp_path):
    journal = tmp_path / "journal"
    fixed = {"fixed": {"journal": str(journal)}}
    first = run(rounds(**fixed), workload())
    before = journal.read_text()
    executor = Scripted()
    again = run(rounds(**fixed), workload(executor=executor))
    assert len(before.splitlines()) == 6
    assert journal.read_text() == before
    assert executor.started == []
    assert again.trials == first.trials


def test_raising_the_number_of_trials_runs_the_new_ones_alone(workload, tmp_path):
    journal = tmp_path / "journal"
    fixed = {"fixed": {"journal": str(journal)}}
    first = run(rounds(3, **fixed), workload())
    more = run(rounds(5, **fixed), workload())
    lines = journal.read_text().splitlines()
    assert lines == [f"{n} 1" for n in range(10)]
    assert more.trials[:6] == first.trials
    fewer = run(rounds(2, **fixed), workload())
    assert fewer.counts == {"completed": 10}


def test_a_changed_round_is_refused_before_compute(workload):
    run(rounds(), workload())
    executor = Scripted()
    with pytest.raises(RoundChanged, match="learning_rate"):
        run(rounds(nuisance={"learning_rate": log(1e-4, 1.0)}), workload(executor=executor))
    assert executor.started == []


def test_refusals_come_before_the_store_is_made(workload, tmp_path):
    with pytest.raises(DesignError, match="learning_rate"):
        run(rounds(nuisance={"learning_rat": log(1e-4, 1e-1)}), workload())
    with pytest.raises(DesignError, match="expects a Round"):
        run("depth", workload())
    with pytest.raises(DesignError, match=r"search='bayesian' is not a search.*tw.search.Bayesian"):
        run(rounds(), workload(), search="bayesian")
    with pytest.raises(DesignError, match="max_hours=-1"):
        run(rounds(), workload(), max_hours=-1)
    with pytest.raises(DesignError, match="trials=0"):
        supervise(rounds(), workload(), trials=0)
    short = Listed([{"layers": 1, "learning_rate": 0.1}])
    with pytest.raises(DesignError, match="layers=2"):
        run(rounds(), workload(), search=short)
    assert not (tmp_path / "tuning.db").exists()


def test_unmentioned_defaults_are_recorded_as_fixed(workload):
    results = run(rounds(), workload())
    assert results.round.fixed == {"width": 32, "journal": ""}
    assert results.trials[0].configuration["width"] == 32
    assert [caveat.facts["fixed"] for caveat in results.round.caveats] == [
        {"width": 32, "journal": ""}
    ]


def test_advice_is_kept_as_notes_once(workload):
    asked = rounds(scientific={"layers": [1, 2], "width": [8, 16]})
    watch = Kept()
    first = supervise(asked, workload(), watch=watch)
    assert first.notes
    assert list(first.notes) == watch.all("message")
    assert run(asked, workload()).notes == first.notes


def test_every_attempt_has_its_provenance_and_its_command(workload):
    results = run(rounds(), workload())
    with Store.open(workload().store, create=False) as store:
        for trial in results.trials:
            found = store.provenance(trial.identity)
            assert found is not None and found.packages["tunewright"]
    trial = results.trials[2]
    assert f"learning_rate={trial.configuration['learning_rate']!r}" in trial.started
    assert trial.started.endswith(f"# seed {trial.seed}")
    assert trial.command == f"tunewright again {results.round.name} 2"
    assert found.settings == {"eval_every": None, "devices_per_trial": None}


def test_a_limit_of_trials(workload):
    watch = Kept()
    results = supervise(rounds(), workload(), trials=2, watch=watch)
    assert results.counts == {"completed": 2, "pending": 4}
    assert watch.summary.why == "limit"
    watch = Kept()
    assert supervise(rounds(), workload(), trials=4, watch=watch).counts == {"completed": 6}
    assert watch.summary.why == "finished"


def test_no_new_trials_when_the_time_is_over(workload, caplog):
    def slow(given):
        time.sleep(0.05)
        return completed(given)

    executor = Scripted(slow, slots=1)
    watch = Kept()
    results = supervise(rounds(200), workload(executor=executor), max_hours=2 / 3600, watch=watch)
    done = results.counts["completed"]
    assert 1 <= done < 400
    assert results.counts == {"completed": done, "pending": 400 - done}
    assert len(executor.started) == done
    assert watch.summary.why == "out of time"


# ---- searches


def test_an_adaptive_search_is_asked_after_each_claim(workload):
    search = Halving()
    results = run(rounds(), workload(executor=Scripted(slots=1)), search=search)
    assert results.search == "halving"
    assert results.counts == {"completed": 6}
    units = [t.unit["learning_rate"] for t in results.of(0)]
    assert units == [0.5, 0.25, 0.125]
    assert search.asked[-1] == [(1, "completed"), (3, "completed")]
    assert all(t.configuration["learning_rate"] for t in results.trials)


def test_a_search_without_suggestions_ends_the_call_and_nothing_is_lost(workload):
    watch = Kept()
    results = supervise(rounds(), workload(), search=Halving(most=2), watch=watch)
    assert results.counts == {"completed": 4, "pending": 2}
    assert watch.summary.why == "no suggestion"


def test_listed_configurations(workload):
    grid = [{"learning_rate": x} for x in (0.1, 0.01, 0.001)]
    results = run(rounds(), workload(), search=Listed(grid))
    assert [t.configuration["learning_rate"] for t in results.of(1)] == [0.1, 0.01, 0.001]
    assert results.best().configuration["learning_rate"] == 0.01


# ---- what is left on the disk


def test_every_end_is_in_the_trial_folder_with_whole_curves(workload, tmp_path):
    results = run(rounds(), workload())
    for trial in results.trials:
        folder = tmp_path / "tuning.db.trials" / trial.folder
        (spooled,) = results_in(folder)
        assert (spooled.trial, spooled.outcome.status) == (trial.identity, "completed")
        about = json.loads((folder / "trial.json").read_text())["content"]
        assert about["configuration"] == trial.configuration
        assert about["number"] == trial.number


def test_trial_folders_where_the_workload_says(workload, tmp_path):
    results = run(rounds(), workload(folder=tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / results.trials[0].folder / "trial.json").exists()
    assert not (tmp_path / "tuning.db.trials").exists()


def test_load_refuses_what_is_not_there(tmp_path, workload):
    with pytest.raises(StoreError, match=r"tuning\.db"):
        load(tmp_path / "tuning.db", "depth")
    assert not (tmp_path / "tuning.db").exists()
    run(rounds(), workload())
    with pytest.raises(StoreError, match="Did you mean 'depth'"):
        load(tmp_path / "tuning.db", "dept")


@pytest.mark.postgres
def test_on_a_server_trial_folders_must_be_named(new_postgres_url, tmp_path):
    store, executor = new_postgres_url(), Scripted()
    bare = Workload(train, minimize("valid_error"), store=store, executor=executor)
    with pytest.raises(StoreError, match=r"Workload\(folder="):
        run(rounds(), bare)
    assert executor.started == []
    assert run(rounds(), replace(bare, folder=tmp_path)).counts == {"completed": 6}
