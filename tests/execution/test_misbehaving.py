"""Whatever a training program does, its trial ends as stated and the others go on: cases 25-34."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.execution import misbehaving as bad
from tests.execution.driving import drive, gone

from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.messages import Message

pytestmark = pytest.mark.beyond_core

linux = pytest.mark.skipif(sys.platform != "linux", reason="found by the marks in /proc")


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    executor = Local(workers=2, devices=[])
    yield executor
    executor.close()


@pytest.fixture(params=["inline", "local"])
def executor(request: pytest.FixtureRequest, local: Local) -> Executor:
    return Inline() if request.param == "inline" else local


def test_25_a_non_finite_objective_or_loss_is_infeasible(
    executor: Executor, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    texts = {"nan": "nan", "inf": "+inf", "-inf": "-inf"}
    cases = [(m, v) for m in ("valid_error", "train_loss", "valid_loss") for v in texts]
    configurations = [{"value": v, "metric": m, "journal": str(journal)} for m, v in cases]
    all_told = drive(executor, bad.non_finite, tmp_path, configurations)
    for (metric, value), told in zip(cases, all_told, strict=True):
        assert told.end.status == "infeasible"
        facts = {"metric": metric, "value": texts[value], "step": 2}
        assert told.end.reason == Message("metric.not_finite", facts)
        assert list(told.curves[metric].steps)[-1] == 2
        assert list(told.curves["gradient_norm"].values) == [3.0]  # of the same step, kept too
    assert "ended" not in journal.read_text()  # `except Exception` did not keep them alive


def test_25_other_metrics_may_be_anything(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.other_metric_non_finite, tmp_path, [{}])
    assert told.end.status == "completed"
    assert told.curves["gradient_norm"].values[0] == float("inf")


def test_25_even_except_base_exception_does_not_keep_it_alive(
    executor: Executor, tmp_path: Path
) -> None:
    (told,) = drive(executor, bad.swallows_everything, tmp_path, [{}])
    facts = {"metric": "valid_error", "value": "nan", "step": 1}
    assert told.end.status == "infeasible"
    assert told.end.reason == Message("metric.not_finite", facts)


def test_26_what_is_no_number_fails_with_one_line(executor: Executor, tmp_path: Path) -> None:
    cases = list(bad.NOT_NUMBERS)
    all_told = drive(executor, bad.not_a_number, tmp_path, [{"what": what} for what in cases])
    for told in all_told:
        assert told.end.status == "failed"
        assert told.end.reason.code.startswith("value.")
        assert told.end.reason.facts["metric"] == "valid_error"
        assert "\n" not in str(told.end.reason)
        assert "misbehaving.py" in told.end.detail  # the line that did it
    causes = {what: told.end.reason for what, told in zip(cases, all_told, strict=True)}
    assert causes["array"].code == "value.array"
    assert causes["numeric text"].code == "value.text"
    assert causes["numeric text"].facts["reads_as_number"]


def test_26_the_return_value_is_ignored(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.never_logs, tmp_path, [{}])
    assert told.end.status == "completed"
    assert told.curves == {}


def test_26_steps_that_go_back_fail(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.goes_back, tmp_path, [{}])
    assert told.end.status == "failed"
    facts = {"number": 0, "step": 300, "after": 400, "resumed": False}
    assert told.end.reason == Message("step.went_back", facts)
    assert "where   misbehaving.py:" in told.end.detail
    assert "try     for step in run.steps(max_train_steps): ..." in told.end.detail


def test_27_numbers_of_other_libraries_are_numbers(executor: Executor, tmp_path: Path) -> None:
    cases = list(bad.NUMBERS)
    all_told = drive(executor, bad.odd_number, tmp_path, [{"what": what} for what in cases])
    for what, told in zip(cases, all_told, strict=True):
        assert told.end.status == "completed"
        assert list(told.curves["valid_error"].values) == [bad.NUMBERS[what][1]]


def test_28_an_exception_fails_with_its_traceback(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.raises, tmp_path, [{}])
    facts = {"type": "ValueError", "text": "the data are gone"}
    assert (told.end.status, told.end.reason) == ("failed", Message("trial.raised", facts))
    first, second, *_ = told.end.detail.splitlines()
    assert first.startswith("Traceback")
    assert "misbehaving.py" in second  # it begins in the training program, not in ours


def test_28_strange_text_is_kept_readable(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.raises_strange_text, tmp_path, [{}])
    assert told.end.status == "failed"
    for text in (told.end.reason.facts["text"], told.end.detail):
        text.encode("utf-8")
        assert "\0" not in text
        assert "\\ud800" in text
    (told,) = drive(executor, bad.raises_unprintable, tmp_path / "second", [{}])
    assert told.end.status == "failed"
    assert told.end.reason.facts["type"].startswith("Unprintable")


def test_29_sys_exit_fails_at_once(executor: Executor, tmp_path: Path) -> None:
    told = drive(executor, bad.exits, tmp_path, [{"status": 0}, {"status": 3}])
    assert [each.end.status for each in told] == ["failed", "failed"]
    assert told[1].end.reason == Message("trial.called_exit", {"status": "3"})


def test_29_sudden_deaths_are_deaths(local: Local, tmp_path: Path) -> None:
    (hard,) = drive(local, bad.exits_hard, tmp_path / "a", [{"status": 3}])
    (fault,) = drive(local, bad.segfaults, tmp_path / "b", [{}])
    (killed,) = drive(local, bad.kills_itself, tmp_path / "c", [{}])
    assert [each.end.status for each in (hard, fault, killed)] == ["died"] * 3
    assert hard.end.reason == Message("process.exited", {"status": 3, "signal": ""})
    assert "about to leave" in hard.end.detail
    assert fault.end.reason.facts["signal"] == "SIGSEGV"
    assert "segfaults" in fault.end.detail  # faulthandler names the line
    assert killed.end.reason.facts["signal"] == "SIGKILL"


def test_29_the_next_attempt_resumes_where_it_died(local: Local, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    configuration = {"journal": str(journal)}
    (first,) = drive(local, bad.dies_once, tmp_path, [configuration])
    assert first.end.status == "died"
    (second,) = drive(local, bad.dies_once, tmp_path, [configuration], attempt=2)
    assert second.end.status == "completed"
    assert second.began[-1].start_step == 5
    assert list(second.curves["valid_error"].steps) == [6, 7, 8, 9, 10]
    assert [saved.step for saved in second.saved] == [6, 7, 8, 9, 10]
    assert journal.read_text().splitlines() == [
        "0 1 began after 0",
        "0 2 began after 5",
        "0 2 ended with 10",
    ]


@pytest.mark.parametrize("train", [bad.hangs, bad.hangs_without_threads])
def test_30_a_hang_ends_at_the_time_limit(tmp_path: Path, train: object) -> None:
    executor = Local(workers=1, devices=[], trial_timeout_s=2.0)
    try:
        (told,) = drive(executor, train, tmp_path, [{}])  # type: ignore[arg-type]
    finally:
        executor.close()
    assert told.end.status == "failed"
    assert told.end.reason == Message("limit.time", {"limit_s": 2.0})


def test_30_no_progress_ends_it_but_slow_progress_does_not(tmp_path: Path) -> None:
    executor = Local(workers=2, devices=[], no_progress_timeout_s=2.0)
    try:
        (stuck,) = drive(executor, bad.hangs, tmp_path / "a", [{"after": 3}])
        slow = {"steps": 8, "sleep_s": 0.4}  # longer than the limit in all, never in one step
        (slow_told,) = drive(executor, bad.fine, tmp_path / "b", [slow])
    finally:
        executor.close()
    assert stuck.end.status == "failed"
    assert stuck.end.reason == Message("limit.no_progress", {"limit_s": 2.0})
    assert len(stuck.curves["valid_error"]) == 3
    assert slow_told.end.status == "completed"


def test_31_the_memory_limit_makes_it_infeasible(tmp_path: Path) -> None:
    executor = Local(workers=2, devices=[], memory_gb=0.3)
    try:
        (own,) = drive(executor, bad.eats_memory, tmp_path / "a", [{}])
        (below,) = drive(executor, bad.eats_memory_below, tmp_path / "b", [{}])
        (fine,) = drive(executor, bad.fine, tmp_path / "c", [{}])
    finally:
        executor.close()
    for told in (own, below):
        assert told.end.status == "infeasible"
        assert told.end.reason.code == "limit.memory"
        assert told.end.reason.facts["used_gb"] > told.end.reason.facts["limit_gb"] == 0.3
        assert told.end.peak_memory_mb is not None
        assert told.end.peak_memory_mb > 286  # 0.3 GB
    assert fine.end.status == "completed"
    assert fine.end.peak_memory_mb is not None
    assert 10 < fine.end.peak_memory_mb < 286


def test_31_a_memory_error_is_infeasible(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.runs_out_of_memory, tmp_path, [{}])
    facts = {"type": "MemoryError", "text": ""}
    assert (told.end.status, told.end.reason) == ("infeasible", Message("memory.exhausted", facts))


def test_32_100_megabytes_of_output_are_cut(local: Local, tmp_path: Path) -> None:
    (told,) = drive(local, bad.prints, tmp_path, [{"megabytes": 100}])
    assert told.end.status == "completed"
    assert told.log.startswith("the first line\n")
    assert told.log.endswith("the last line\n")
    assert "bytes left out" in told.log
    assert len(told.log) < 2.1 * 2**20
    assert [path.name for path in told.folder.glob("log*")] == ["log.1.txt"]
    (told,) = drive(local, bad.prints_one_long_line, tmp_path / "b", [{}])
    assert told.end.status == "completed"


@linux
@pytest.mark.parametrize("then", ["ends", "dies", "hangs"])
def test_33_what_it_leaves_running_is_ended(tmp_path: Path, then: str) -> None:
    pids = tmp_path / "pids"
    timeout = 5.0 if then == "hangs" else None
    executor = Local(workers=1, devices=[], trial_timeout_s=timeout)
    try:
        configuration = {"pids": str(pids), "then": then}
        (told,) = drive(executor, bad.leaves_processes, tmp_path, [configuration])
        left = [int(pid) for pid in pids.read_text().split()]
        assert len(left) == 4
        assert gone(left, within_s=0), "they outlived their trial"
    finally:
        executor.close()
    assert told.end.status == {"ends": "completed", "dies": "died", "hangs": "failed"}[then]


def test_34_a_million_reports_all_arrive(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.logs_much, tmp_path, [{"points": 10**6}])
    assert told.end.status == "completed"
    steps = told.curves["valid_error"].steps
    assert len(steps) == 10**6
    assert steps[0] == 1 and steps[-1] == 10**6
    assert len(told.events) < 1000  # batched


def test_infeasible_says_why(executor: Executor, tmp_path: Path) -> None:
    (told,) = drive(executor, bad.infeasible, tmp_path, [{}])
    said = Message("trial.infeasible", {"text": "heads do not divide width"})
    assert (told.end.status, told.end.reason) == ("infeasible", said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_cannot_log(local: Local, tmp_path: Path) -> None:
    (told,) = drive(local, bad.logs_in_a_child, tmp_path, [{}])
    assert told.end.status == "completed"
    assert list(told.curves["valid_error"].steps) == [1, 3]
    assert "refused: the Run was used in a child process" in told.log
