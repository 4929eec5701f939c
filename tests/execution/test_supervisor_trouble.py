"""A supervisor in trouble: failures, deaths, another owner, and requests to stop."""

from __future__ import annotations

import logging

import pytest
from tests.execution.supervised import broken, rounds, workloads_in
from tests.execution.watching import Kept, Scripted, completed

from tunewright.design.objective import minimize
from tunewright.errors import Busy
from tunewright.execution.executors.executor import Began, Ended, Logged, Saved
from tunewright.execution.run import load, run, supervise
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

BROKEN = Message("trial.raised", {"type": "ValueError", "text": "broken"})
KILLED = Message("program.exited", {"status": -9, "signal": "SIGKILL"})


@pytest.fixture
def workload(tmp_path):
    return workloads_in(tmp_path)


# ---- failures


def test_the_round_stops_when_its_first_five_trials_all_failed(workload, caplog):
    watch = Kept()
    results = supervise(rounds(9), workload(broken), watch=watch)
    assert results.counts == {"failed": 5, "pending": 13}
    assert watch.summary.why == "all failed"
    said = watch.all("message")[-1]
    assert "5 trials" in said and "ValueError: no data for True" in said
    with caplog.at_level(logging.WARNING):
        again = run(rounds(9), workload(broken))
    assert again.counts == {"failed": 10, "pending": 8}, "run again continues"
    assert "retry_failed=True" in caplog.text


def test_one_good_trial_and_failures_no_longer_stop_a_round(workload):
    def script(given):
        if given.number == 0:
            return completed(given)
        return [Ended(given.trial, given.attempt, Outcome("failed", BROKEN))]

    results = run(rounds(9), workload(executor=Scripted(script)))
    assert results.counts == {"completed": 1, "failed": 17}


def test_failed_trials_are_retried_only_when_asked_for(workload):
    def script(given):
        if given.number == 3 and given.attempt == 1:
            return [Ended(given.trial, given.attempt, Outcome("failed", BROKEN))]
        return completed(given)

    executor = Scripted(script)
    first = run(rounds(), workload(executor=executor))
    assert first.trial(3).reason == BROKEN
    assert run(rounds(), workload(executor=executor)).counts == first.counts
    assert len(executor.started) == 6
    again = run(rounds(), workload(executor=executor), retry_failed=True)
    assert again.counts == {"completed": 6}
    assert again.trial(3).attempts == 2
    assert [given.number for given in executor.started[6:]] == [3]


def test_three_deaths_fail_a_trial_with_cause_and_tail(workload):
    def script(given):
        if given.number == 1:
            return [Ended(given.trial, given.attempt, Outcome("died", KILLED, "the tail"))]
        return completed(given)

    executor, watch = Scripted(script), Kept()
    results = supervise(rounds(), workload(executor=executor), watch=watch)
    trial = results.trial(1)
    assert (trial.status, trial.attempts) == ("failed", 3)
    facts = {"deaths": 3, "cause": KILLED.to_data()}
    assert trial.reason == Message("trial.died_repeatedly", facts)
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
            return [Ended(given.trial, given.attempt, Outcome("stopped", Message("stopped.asked")))]
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
                Ended(*ids, Outcome("died", KILLED)),
            ]
        later = pack({"train_loss": ([11], [1.0])})
        return [Began(*ids, 10, "here"), Logged(*ids, later), Ended(*ids, Outcome("completed"))]

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
        return [Logged(*ids, points), Ended(*ids, Outcome("completed"))]

    watch = Kept()
    results = supervise(
        rounds(), workload(executor=Scripted(script), objective=objective), watch=watch
    )
    assert results.counts == {"infeasible": 1, "completed": 5}
    (told,) = [c for c in watch.all("ended") if c.number == 0]
    assert (told.status, told.value) == ("infeasible", None)
    assert told.reason.code == "constraint.broken"
    assert (told.reason.facts["metric"], told.reason.facts["value"]) == ("latency_ms", 30.0)


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
    assert results.trial(0).reason == Message("stopped.supervisor_ended")


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
        stale = Ended(given.trial, given.attempt + 1, Outcome("failed", BROKEN))
        unknown = Ended(10**6, 1, Outcome("failed", BROKEN))
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
