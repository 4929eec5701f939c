"""Events about steps, notes of trials, and the round that stops after one mute trial."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from tests.execution.supervised import rounds, workloads_in
from tests.execution.watching import Kept, Scripted

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution import progress
from tunewright.execution.command import command
from tunewright.execution.executors import inline
from tunewright.execution.executors.executor import Ended, Logged, Noted, Stepped
from tunewright.execution.executors.local import Local
from tunewright.execution.run import run, supervise
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome

ROUND = Round(
    "steps",
    goal="?",
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"max_train_steps": 40},
    trials_per_study=1,
)


@pytest.fixture
def workload(tmp_path):
    return workloads_in(tmp_path)


def events(given, *more):
    points = pack({"valid_error": ([7], [0.5])})
    return [
        *more,
        Logged(given.trial, given.attempt, points),
        Ended(given.trial, given.attempt, Outcome("completed", seconds=1.0)),
    ]


def slow(run, learning_rate, max_train_steps=40):
    for step in run.steps(max_train_steps):
        time.sleep(0.004)
        run.log(step, valid_error=learning_rate / step)


# ---- steps


def test_a_reported_step_is_an_event_with_its_total(workload):
    def script(given):
        return events(given, Stepped(given.trial, given.attempt, 3, total=None))

    watch = Kept()
    supervise(ROUND, workload(slow, Scripted(script, slots=1)), watch=watch)
    (reached,) = watch.all("reached")
    assert (reached.number, reached.step, reached.total) == (0, 3, 40), "by meaning"
    (started,) = watch.all("claimed")
    assert started.total == 40


def test_an_executor_that_reports_no_steps_is_followed_by_its_points(workload):
    watch = Kept()
    supervise(ROUND, workload(slow, Scripted(events, slots=1)), watch=watch)
    (reached,) = watch.all("reached")
    assert reached.step == 7


def test_the_programs_own_count_of_steps_comes_first(workload):
    def script(given):
        return events(given, Stepped(given.trial, given.attempt, 3, total=25))

    watch = Kept()
    supervise(ROUND, workload(slow, Scripted(script, slots=1)), watch=watch)
    assert watch.all("reached")[0].total == 25


def test_steps_are_events_once_a_second_and_tell_the_time_left(workload, monkeypatch):
    moment = iter(float(n) / 10 for n in range(10_000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(moment))

    def script(given):
        steps = (Stepped(given.trial, given.attempt, step, total=40) for step in range(1, 31))
        return events(given, *steps)

    watch = Kept()
    supervise(ROUND, workload(slow, Scripted(script, slots=1)), watch=watch)
    reached = watch.all("reached")
    assert 2 <= len(reached) <= 10, "thirty reports within three seconds"
    assert reached[0].left_s is None
    assert reached[-1].left_s is not None and reached[-1].rate is not None


def test_training_in_this_process_is_followed_too(workload, monkeypatch):
    monkeypatch.setattr(inline, "GLANCE_S", 0.02)
    monkeypatch.setattr(progress, "REACHED_S", 0.0)
    watch = Kept()
    results = supervise(ROUND, workload(slow), watch=watch)
    steps = [one.step for one in watch.all("reached")]
    assert len(steps) >= 2 and steps == sorted(steps)
    assert results.counts == {"completed": 1}


@pytest.mark.beyond_core
def test_a_worker_process_reports_steps_that_log_nothing(tmp_path):
    own = Workload(
        quiet_steps,
        minimize("valid_error"),
        store=tmp_path / "t.db",
        executor=Local(workers=1, devices=[]),
    )
    watch = Kept()
    supervise(ROUND, own, watch=watch)
    reached = watch.all("reached")
    assert reached and reached[0].total == 40
    assert 0 < reached[-1].step <= 40


def quiet_steps(run, learning_rate, max_train_steps=40):
    for _ in run.steps(max_train_steps):
        time.sleep(0.05)
    run.log(max_train_steps, valid_error=learning_rate)


# ---- notes


def test_a_note_of_a_trial_is_shown_and_kept_with_the_round(workload):
    def script(given):
        note = Message("run.not_restored", {"number": given.number, "step": 14})
        return events(given, Noted(given.trial, given.attempt, note))

    watch = Kept()
    results = supervise(ROUND, workload(slow, Scripted(script, slots=1)), watch=watch)
    assert any("step 14" in text for text in watch.all("message"))
    assert any("step 14" in note for note in results.notes)


def test_a_snapshot_that_is_not_read_is_noted(workload):
    def script(run, learning_rate, max_train_steps=40):
        for step in run.steps(max_train_steps):
            run.log(step, valid_error=1.0)
            if run.attempt == 1 and step == 14:
                run.save({})
                raise OSError(28, "No space left on device")  # tried again once there is space

    watch = Kept()
    results = supervise(ROUND, workload(script), watch=watch)
    assert results.counts == {"completed": 1}
    assert any("step 14" in note for note in results.notes)


# ---- a program that logs nothing


def mute(run, learning_rate, layers=1):
    print("step 1: valid error 0.5")


def test_one_trial_that_ends_well_and_logs_nothing_stops_the_round(workload):
    watch = Kept()
    results = supervise(rounds(9), workload(mute), watch=watch)
    assert results.counts == {"failed": 1, "pending": 17}
    assert watch.summary.why == "all failed"


def test_a_mute_trial_among_good_ones_stops_nothing(workload):
    def some(run, learning_rate, layers=1):
        if run.number != 1:
            run.log(1, valid_error=0.5)

    assert run(rounds(3), workload(some)).counts == {"completed": 5, "failed": 1}


NANO = """
for step in (0, 10, 20):
    print(f"step {step}: train loss {4 - step / 10:.4f}, val loss {4.1 - step / 10:.4f}")
"""


@pytest.fixture
def nano(tmp_path: Path):
    (tmp_path / "train.py").write_text(NANO)
    template = f"'{sys.executable}' '{tmp_path / 'train.py'}' {{learning_rate}} {{max_train_steps}}"

    def make(*read: str) -> Workload:
        executor = Local(workers=1, devices=[])
        return Workload(
            command(template, read=read),
            minimize("val_loss"),
            store=tmp_path / "t.db",
            executor=executor,
        )

    return make


@pytest.mark.beyond_core
def test_its_log_is_shown_and_the_proposed_pattern_reads_it(nano):
    results = run(ROUND, nano())
    (trial,) = results.trials
    assert trial.status == "failed" and trial.reason is not None
    assert "val loss 4.1000" in trial.detail
    assert trial.reason.code == "objective.never_logged"
    assert trial.reason.facts["command"] is True
    assert "run.log" not in trial.reason.text and '{"step": 100, "val_loss"' in trial.reason.text
    patterns = trial.reason.facts["read"]
    assert patterns
    again = run(ROUND, nano(*patterns), retry_failed=True)
    assert again.counts == {"completed": 1}
    assert again.trial(0).value == pytest.approx(2.1)
    assert again.trial(0).curves["train_loss"].steps.tolist() == [0, 10, 20]


@pytest.mark.beyond_core
def test_lines_on_standard_error_are_read_as_well_and_stay_in_the_log(tmp_path):
    (tmp_path / "train.py").write_text(
        "import sys\nfor n in (1, 2): print(f'step {n} val_loss {1 / n}', file=sys.stderr)"
    )
    template = f"'{sys.executable}' '{tmp_path / 'train.py'}' {{learning_rate}} {{max_train_steps}}"
    own = command(template, read=r"step (?P<step>\d+) val_loss (?P<val_loss>\S+)")
    store, executor = tmp_path / "t.db", Local(workers=1, devices=[])
    results = run(ROUND, Workload(own, minimize("val_loss"), store=store, executor=executor))
    assert results.trial(0).value == 0.5
    log_file = Path(results.root or "") / results.trial(0).folder / "log.1.txt"
    assert "step 2 val_loss 0.5" in log_file.read_text()


@pytest.mark.beyond_core
def test_the_exception_of_a_program_stands_beside_its_exit_status(tmp_path):
    (tmp_path / "train.py").write_text("raise KeyError('no such key')")
    template = f"'{sys.executable}' '{tmp_path / 'train.py'}' {{learning_rate}} {{max_train_steps}}"
    own = Workload(
        command(template),
        minimize("val_loss"),
        store=tmp_path / "t.db",
        executor=Local(workers=1, devices=[]),
    )
    (trial,) = run(ROUND, own).trials
    assert trial.reason is not None and trial.reason.code == "program.exited"
    assert trial.reason.facts["error"] == "KeyError: 'no such key'"
    assert trial.reason.facts["status"] == 1
