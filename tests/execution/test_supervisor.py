"""The supervisor's loop: what is claimed, told, recorded and put back."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace

import pytest
from watching import Kept, Scripted, completed

from tunewright.design.objective import maximize, minimize
from tunewright.design.round import Round
from tunewright.design.space import log
from tunewright.errors import Busy, DesignError, RoundChanged, StoreError
from tunewright.execution.executor import Began, Ended, Logged, Saved
from tunewright.execution.inline import Inline
from tunewright.execution.verbs import load, run, supervise
from tunewright.execution.workload import Workload
from tunewright.record.curve import pack
from tunewright.record.spool import results_in
from tunewright.record.store import Store
from tunewright.search.listed import Listed
from tunewright.search.search import Suggestion


def train(run, learning_rate, layers=1, width=32, journal=""):
    """Has its minimum at learning rate 0.01 and one layer; appends a line per training."""
    if journal:
        with open(journal, "a") as file:
            file.write(f"{run.number} {run.attempt}\n")
    for step in run.steps(3):
        run.log(step, valid_error=abs(learning_rate - 0.01) + layers + 1 / step)


def broken(run, learning_rate, layers=1):
    raise ValueError(f"no data for {learning_rate > 0}")


def rounds(trials=3, name="depth", **changes):
    roles = {
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": log(1e-4, 1e-1)},
        **changes,
    }
    return Round(name, goal="Do more layers help?", trials_per_study=trials, **roles)


@pytest.fixture
def workload(tmp_path):
    def make(train=train, executor=None, objective=None, **more):
        return Workload(
            train,
            objective or minimize("valid_error"),
            store=tmp_path / "tuning.db",
            executor=executor or Inline(),
            **more,
        )

    return make


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
    with pytest.raises(DesignError, match="no Round"):
        run("depth", workload())
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
    assert "holds for width = 32" in results.round.caveats


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
    assert f"learning_rate={trial.configuration['learning_rate']!r}" in trial.command
    assert trial.command.endswith(f"# seed {trial.seed}")


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


# ---- failures


def test_the_round_stops_when_its_first_five_trials_all_failed(workload, caplog):
    watch = Kept()
    results = supervise(rounds(9), workload(broken), watch=watch)
    assert results.counts == {"failed": 5, "pending": 13}
    assert watch.summary.why == "all failed"
    said = watch.all("message")[-1]
    assert "first 5 trials" in said and "ValueError: no data for True" in said
    with caplog.at_level(logging.WARNING):
        again = run(rounds(9), workload(broken))
    assert again.counts == {"failed": 10, "pending": 8}, "run again continues"
    assert "retry_failed=True" in caplog.text


def test_one_good_trial_and_failures_no_longer_stop_a_round(workload):
    def script(given):
        if given.number == 0:
            return completed(given)
        return [Ended(given.trial, given.attempt, "failed", "broken")]

    results = run(rounds(9), workload(executor=Scripted(script)))
    assert results.counts == {"completed": 1, "failed": 17}


def test_failed_trials_are_retried_only_when_asked_for(workload):
    def script(given):
        if given.number == 3 and given.attempt == 1:
            return [Ended(given.trial, given.attempt, "failed", "no space on the device")]
        return completed(given)

    executor = Scripted(script)
    first = run(rounds(), workload(executor=executor))
    assert first.trial(3).reason == "no space on the device"
    assert run(rounds(), workload(executor=executor)).counts == first.counts
    assert len(executor.started) == 6
    again = run(rounds(), workload(executor=executor), retry_failed=True)
    assert again.counts == {"completed": 6}
    assert again.trial(3).attempts == 2
    assert [given.number for given in executor.started[6:]] == [3]


def test_three_deaths_fail_a_trial_with_cause_and_tail(workload):
    def script(given):
        if given.number == 1:
            return [Ended(given.trial, given.attempt, "died", "signal 9", "the tail")]
        return completed(given)

    executor, watch = Scripted(script), Kept()
    results = supervise(rounds(), workload(executor=executor), watch=watch)
    trial = results.trial(1)
    assert (trial.status, trial.attempts) == ("failed", 3)
    assert trial.reason == "died 3 times, at last: signal 9"
    assert trial.detail == "the tail"
    assert results.counts == {"completed": 5, "failed": 1}
    attempts = [g.attempt for g in executor.started if g.number == 1]
    assert attempts == [1, 2, 3]
    folders = {g.folder for g in executor.started if g.number == 1}
    assert len(folders) == 1, "every attempt has the same folder"
    ends = [c.status for c in watch.all("ended") if c.number == 1]
    assert ends == ["pending", "pending", "failed"]


def test_a_stop_that_was_not_asked_for_never_counts_as_a_death(workload):
    def script(given):
        if given.number == 1 and given.attempt <= 5:
            return [Ended(given.trial, given.attempt, "stopped", "pre-empted")]
        return completed(given)

    results = run(rounds(), workload(executor=Scripted(script)))
    assert results.counts == {"completed": 6}
    assert results.trial(1).attempts == 6


def test_a_resumed_attempt_counts_what_the_earlier_ones_logged(workload):
    """The objective was logged before the death alone; the next attempt only finishes."""

    def script(given):
        ids = (given.trial, given.attempt)
        if given.number != 2:
            return completed(given)
        if given.attempt == 1:
            points = pack({"valid_error": ([10], [0.125])})
            return [
                Began(*ids, 0, "here"),
                Logged(*ids, points),
                Saved(*ids, 10, "snapshots/x", "0" * 64),
                Ended(*ids, "died", "signal 9"),
            ]
        later = pack({"train_loss": ([11], [1.0])})
        return [Began(*ids, 10, "here"), Logged(*ids, later), Ended(*ids, "completed")]

    watch = Kept()
    results = supervise(rounds(), workload(executor=Scripted(script)), watch=watch)
    trial = results.trial(2)
    assert (trial.status, trial.value, trial.attempts) == ("completed", 0.125, 2)
    (told,) = [c for c in watch.all("ended") if c.number == 2 and c.status == "completed"]
    assert told.value == 0.125


def test_a_violated_constraint_is_told_as_infeasible(workload):
    objective = minimize("valid_error", subject_to={"latency_ms": ("<=", 20)})

    def script(given):
        ids = (given.trial, given.attempt)
        slow = 30.0 if given.number == 0 else 10.0
        points = pack({"valid_error": ([1], [0.1]), "latency_ms": ([1], [slow])})
        return [Logged(*ids, points), Ended(*ids, "completed")]

    watch = Kept()
    results = supervise(
        rounds(), workload(executor=Scripted(script), objective=objective), watch=watch
    )
    assert results.counts == {"infeasible": 1, "completed": 5}
    (told,) = [c for c in watch.all("ended") if c.number == 0]
    assert (told.status, told.value) == ("infeasible", None)
    assert "latency_ms is 30" in told.reason


# ---- whose trials they are


def test_a_second_supervisor_is_refused_with_the_owner_named(workload):
    supervise(rounds(), workload(), trials=1)
    with Store.open(workload().store) as store:
        record = store.round("depth")
        owner = store.register(record.id, "supervisor", exclusive=True)
        executor = Scripted()
        with pytest.raises(Busy, match=f"pid {owner.process.pid}"):
            run(rounds(), workload(executor=executor))
        assert executor.started == []
        joined = supervise(rounds(), workload(), join=True)
        assert joined.counts == {"completed": 6}
        store.retire(owner)


def test_what_cannot_be_started_goes_back_to_pending(workload):
    class Refusing(Scripted):
        def start(self, workload, assignments):
            raise RuntimeError("no workers")

    executor, watch = Refusing(), Kept()
    with pytest.raises(RuntimeError, match="no workers"):
        supervise(rounds(), workload(executor=executor), watch=watch)
    assert executor.closed
    assert watch.summary.why == "error"
    assert load(workload().store, "depth").counts == {"pending": 6}
    assert run(rounds(), workload()).counts == {"completed": 6}


def test_an_executor_that_breaks_leaves_nothing_running(workload):
    class Breaking(Scripted):
        def events(self, timeout_s):
            raise RuntimeError("the pool is gone")

    executor = Breaking(lambda given: [])
    with pytest.raises(RuntimeError, match="the pool is gone"):
        run(rounds(), workload(executor=executor))
    assert {trial for trial, _ in executor.stopped} == {g.trial for g in executor.started}
    results = load(workload().store, "depth")
    assert results.counts == {"pending": 6}
    assert results.trial(0).reason == "its supervisor ended"


def test_a_trial_whose_lease_was_taken_is_dropped_and_not_overwritten(workload):
    """Another owner takes a trial over while we train it: our result is refused."""
    store = Store.open(workload().store)

    def script(given):
        if given.number != 0 or given.attempt != 1:
            return completed(given, 0.25)
        with store._database.writing() as connection:  # as if our lease had run out
            connection.exec_driver_sql("UPDATE trial SET worker = -1, attempt = 7 WHERE number = 0")
            connection.exec_driver_sql("UPDATE trial SET status = 'completed' WHERE number = 0")
        return completed(given, 0.125)

    executor, watch = Scripted(script), Kept()
    results = supervise(rounds(), workload(executor=executor), watch=watch)
    assert results.trial(0).attempts == 7
    assert len(results.trial(0).curves) == 0, "nothing of ours was written"
    assert any("taken by another owner" in text for text in watch.all("message"))
    assert (executor.started[0].trial, 0.0) in executor.stopped
    assert results.counts["completed"] == 5
    store.close()


def test_events_of_another_attempt_are_passed_over(workload):
    def script(given):
        stale = Ended(given.trial, given.attempt + 1, "failed", "not ours")
        unknown = Ended(10**6, 1, "failed", "nobody's")
        return [stale, unknown, *completed(given)]

    assert run(rounds(), workload(executor=Scripted(script))).counts == {"completed": 6}


# ---- requests


def test_a_request_to_stop_the_round(workload):
    def script(given):
        if given.number == 3:
            with Store.open(workload().store) as store:
                store.ask_stop(store.round("depth").id)
        return completed(given) if given.number < 3 else []  # they run until they are stopped

    executor, watch = Scripted(script), Kept()
    results = supervise(rounds(30), workload(executor=executor), watch=watch)
    assert watch.summary.why == "asked to stop"
    assert results.counts == {"completed": 3, "pending": 57}
    assert {trial for trial, _ in executor.stopped} == {g.trial for g in executor.started[3:]}
    again = run(rounds(30), workload(executor=Scripted()))
    assert again.counts == {"completed": 60}, "the next run forgets the request"


def test_a_request_to_stop_one_trial_leaves_it_pending_and_runs_the_rest(workload):
    def script(given):
        if given.number == 3 and given.attempt == 1:
            with Store.open(workload().store) as store:
                store.ask_stop(store.round("depth").id, 3)
            return []
        return completed(given)

    executor, watch = Scripted(script), Kept()
    results = supervise(rounds(), workload(executor=executor), watch=watch)
    assert results.counts == {"completed": 5, "pending": 1}
    assert results.trial(3).status == "pending"
    assert [g.attempt for g in executor.started if g.number == 3] == [1]
    assert not watch.summary.whole
    assert run(rounds(), workload(executor=executor)).counts == {"completed": 6}


# ---- searches


class Halving:
    """An adaptive search: the middle, then a quarter of the best position so far."""

    name = "halving"
    adaptive = True

    def __init__(self, most=100):
        self.most = most
        self.asked = []

    def suggest(self, study, trials, count):
        self.asked.append([(t.number, t.status) for t in trials])
        unit = 0.5 ** (len(trials) + 1)
        left = max(0, self.most - len(trials))
        unit = {h.column: unit for h in study.space}
        return [Suggestion(study.configuration(unit), unit)] * min(count, left)


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
        assert (spooled.trial, spooled.status) == (trial.identity, "completed")
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
