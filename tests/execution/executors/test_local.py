"""Training in worker processes: warm and fresh ones, stops, ends, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.execution import misbehaving as bad
from tests.execution.driving import DEADLINE_S, alive, assignment, drive, gone, open_descriptors

from tunewright import snapshot
from tunewright.design.objective import minimize
from tunewright.errors import WorkloadError
from tunewright.execution.executors import pool as pool_module
from tunewright.execution.executors.executor import Ended, Executor
from tunewright.execution.executors.local import Local
from tunewright.execution.handle import FOLDER
from tunewright.execution.training_run import Run
from tunewright.execution.workload import Workload
from tunewright.messages import Message

pytestmark = pytest.mark.beyond_core  # most of them start processes


def pids(told: list[Any]) -> list[int]:
    return [int((each.folder / "pid").read_text()) for each in told]


@pytest.fixture
def local() -> Any:
    executors: list[Local] = []

    def make(**settings: Any) -> Local:
        executors.append(Local(**{"workers": 1, "devices": [], **settings}))
        return executors[-1]

    yield make
    for executor in executors:
        executor.close()


Make = Callable[..., Local]


def test_it_is_an_executor() -> None:
    assert isinstance(Local(), Executor)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"workers": 0}, "workers=0"),
        ({"workers": True}, "workers=True"),
        ({"devices_per_trial": 0}, "devices_per_trial=0"),
        ({"isolate": "sometimes"}, 'give "auto", "always" or "never"'),
        ({"memory_gb": -1}, "memory_gb=-1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Any, says: str) -> None:
    with pytest.raises(WorkloadError, match=says):
        Local(**settings)
    with pytest.raises(WorkloadError) as caught:
        Local(workers=0, memory_gb=-1, isolate="never ever")  # type: ignore[arg-type]
    assert len(str(caught.value).splitlines()) == 3


# ---- warm and fresh processes


def test_short_trials_share_a_warm_process(local: Make, tmp_path: Path) -> None:
    told = drive(local(), bad.tells_its_process, tmp_path, [{}] * 4)
    assert len(set(pids(told))) == 1


def test_always_and_never(local: Make, tmp_path: Path) -> None:
    told = drive(local(isolate="always"), bad.tells_its_process, tmp_path / "a", [{}] * 3)
    assert len(set(pids(told))) == 3
    assert gone(pids(told)[:2])


def test_long_trials_get_a_fresh_process(
    local: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "LONG_S", 0.0)  # every trial is a long one
    told = drive(local(), bad.tells_its_process, tmp_path, [{}] * 3)
    assert len(set(pids(told))) == 3


def leaves(run: Run, what: str = "") -> None:
    """Tell the process, and leave something behind if asked."""
    bad.tells_its_process(run)
    if what == "failure":
        raise ValueError
    if what == "infeasible":
        run.log(2, valid_error=float("nan"))
    if what == "thread":
        threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
    if what == "child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).returncode = 0
    if what == "signal":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if what == "path":
        sys.path.insert(0, "/nowhere")
    if what in ("folder", "dtype", "threads", "environment"):
        bad.changes_its_process(run, what)


@pytest.mark.parametrize(
    "what",
    ["failure", "thread", "child", "signal", "path", "folder", "dtype", "threads", "environment"],
)
def test_a_worker_that_was_left_changed_is_replaced(local: Make, tmp_path: Path, what: str) -> None:
    if what in ("dtype", "threads"):
        pytest.importorskip("torch")
    told = drive(local(), leaves, tmp_path, [{"what": what}, {}, {}])
    first, second, third = pids(told)
    assert first != second == third
    assert gone([first])


def test_a_diverged_trial_spoils_nothing(local: Make, tmp_path: Path) -> None:
    told = drive(local(), leaves, tmp_path, [{"what": "infeasible"}, {}])
    assert told[0].end.status == "infeasible"
    assert len(set(pids(told))) == 1


def test_never_keeps_even_a_changed_process(local: Make, tmp_path: Path) -> None:
    configurations = [{"what": "failure"}, {"what": "folder"}, {}]
    told = drive(local(isolate="never"), leaves, tmp_path, configurations)
    assert len(set(pids(told))) == 1


def test_what_is_printed_goes_to_its_own_trial(local: Make, tmp_path: Path) -> None:
    def prints(run: Run, x: int) -> None:
        for _ in range(100):
            print("trial", x)
        run.log(1, valid_error=0.5)

    told = drive(local(), prints, tmp_path, [{"x": 1}, {"x": 2}, {"x": 3}])
    for x, each in enumerate(told, 1):
        assert each.log == f"trial {x}\n" * 100


def test_a_trial_is_a_job_of_its_own(
    local: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")  # we run under a launcher; its ranks are not the trial's
    (told,) = drive(local(), bad.fine, tmp_path, [{}])
    assert len(told.curves["valid_error"]) == 10


# ---- many trials, several workloads


def test_more_trials_than_seats_wait(local: Make, tmp_path: Path) -> None:
    executor = local(workers=2)
    told = drive(executor, bad.fine, tmp_path, [{"x": float(x)} for x in range(20)])
    assert [each.end.status for each in told] == ["completed"] * 20
    assert [each.curves["valid_error"].values[0] for each in told] == list(range(20))


def test_a_closed_executor_can_start_again(local: Make, tmp_path: Path) -> None:
    executor = local()
    assert executor.events(0) == []
    executor.stop(5, grace_s=1)
    first = drive(executor, bad.tells_its_process, tmp_path / "a", [{}])
    executor.close()
    assert gone(pids(first), within_s=0)
    executor.close()
    second = drive(executor, bad.tells_its_process, tmp_path / "b", [{}])
    assert second[0].end.status == "completed"


def test_nothing_is_leaked(local: Make, tmp_path: Path) -> None:
    drive(executor := local(), bad.fine, tmp_path / "warm up", [{}])
    executor.close()
    before, threads = open_descriptors(), threading.active_count()
    for at in range(3):
        drive(executor, bad.kills_itself, tmp_path / str(at), [{}, {}])
        executor.close()
    assert open_descriptors() == before
    assert threading.active_count() == threads


def test_what_cannot_be_shipped_is_refused_before_anything_starts(
    local: Make, tmp_path: Path
) -> None:
    lock = threading.Lock()

    def train(run: Run) -> None:
        lock.acquire()

    with pytest.raises(WorkloadError, match="lock"):
        local().start(Workload(train, minimize("x")), [assignment(tmp_path)])


def test_a_folder_that_is_not_there_ends_its_attempt_only(local: Make, tmp_path: Path) -> None:
    executor = local()
    one, two = assignment(tmp_path / "one", number=0), assignment(tmp_path / "two", number=1)
    one.folder.rmdir()
    executor.start(Workload(bad.fine, minimize("valid_error")), [one, two])
    ends: dict[int, Ended] = {}
    until = time.monotonic() + DEADLINE_S
    while len(ends) < 2 and time.monotonic() < until:
        ends |= {e.trial: e for e in executor.events(0.2) if isinstance(e, Ended)}
    assert ends[one.trial].outcome.status == "died", "not its fault: it is tried again"
    assert ends[one.trial].outcome.reason.code == "trial.not_started"
    assert ends[two.trial].outcome.status == "completed"


# ---- stopping


def stopping(executor: Local, folder: Path, attempt: int = 1, grace_s: float = 30.0) -> Any:
    """Asks for a stop once this attempt has begun to train."""
    asked: list[None] = []

    def ask() -> None:
        journal = folder / "journal"
        if not asked and journal.exists() and f"0 {attempt} began" in journal.read_text():
            asked.append(executor.stop(100, grace_s))

    return ask


def test_a_stopped_trial_saves_and_resumes(local: Make, tmp_path: Path) -> None:
    executor = local()
    configuration = {"journal": str(tmp_path / "journal")}
    train, ask = bad.trains_until_stopped, stopping(executor, tmp_path)
    (told,) = drive(executor, train, tmp_path, [configuration], meanwhile=ask)
    assert told.end.status == "stopped"
    kept = snapshot.latest(told.folder / FOLDER)
    assert kept is not None
    assert kept.step == told.saved[-1].step
    assert told.end.reason == Message("stopped.after_saving", {"step": kept.step})
    assert list(told.curves["valid_error"].steps) == list(range(1, kept.step + 1))

    ask = stopping(executor, tmp_path, attempt=2)
    (again,) = drive(executor, train, tmp_path, [configuration], attempt=2, meanwhile=ask)
    assert again.began[-1].start_step == kept.step
    assert again.end.status == "stopped"
    assert again.curves["valid_error"].steps[0] == kept.step + 1


@pytest.mark.parametrize("train", [bad.hangs, bad.trains_until_stopped])
def test_after_the_grace_period_it_is_ended(
    local: Make, tmp_path: Path, train: Callable[..., None]
) -> None:
    executor = local()
    configuration: dict[str, Any] = {"journal": str(tmp_path / "journal")}
    if train is bad.trains_until_stopped:
        configuration["saves"] = False
    ask = stopping(executor, tmp_path, grace_s=0.5)
    (told,) = drive(executor, train, tmp_path, [configuration], meanwhile=ask)
    assert told.end.status == "stopped"
    assert told.end.reason == Message("stopped.grace_over")


def test_a_waiting_trial_is_stopped_at_once(local: Make, tmp_path: Path) -> None:
    executor = local()
    journal = tmp_path / "journal"
    configuration = {"journal": str(journal), "sleep_s": 0.1}

    def ask() -> None:
        executor.stop(101, grace_s=30)

    running, waiting = drive(executor, bad.fine, tmp_path, [configuration] * 2, meanwhile=ask)
    assert running.end.status == "completed"
    assert (waiting.end.status, waiting.end.reason) == ("stopped", Message("stopped.before_start"))
    assert "1 1 began" not in journal.read_text()


def test_closing_ends_what_runs(local: Make, tmp_path: Path) -> None:
    executor = local()
    own = assignment(tmp_path, {"journal": str(tmp_path / "journal")})
    executor.start(Workload(bad.hangs, minimize("valid_error")), [own])
    until = time.monotonic() + DEADLINE_S
    began = []
    while not began and time.monotonic() < until:
        began = executor.events(0.2)
    pid = int(began[0].worker.rpartition(" ")[2])  # type: ignore[union-attr]
    assert alive(pid)
    executor.close()
    assert gone([pid], within_s=0)


# ---- the supervisor's own end


def test_workers_outlive_the_thread_that_started_them(local: Make, tmp_path: Path) -> None:
    """On Linux a child dies with the *thread* that started it, if it is tied to its parent."""
    executor = local()
    own = assignment(tmp_path, {"sleep_s": 0.05, "steps": 20})
    start = threading.Thread(
        target=lambda: executor.start(Workload(bad.fine, minimize("valid_error")), [own])
    )
    start.start()
    start.join()
    ends: list[Ended] = []
    until = time.monotonic() + DEADLINE_S
    while not ends and time.monotonic() < until:
        ends = [event for event in executor.events(0.2) if isinstance(event, Ended)]
    assert ends[0].outcome.status == "completed"


SUPERVISOR = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from tests.execution.driving import drive
from tests.execution.misbehaving import leaves_processes
from tunewright.execution.command import command
from tunewright.execution.executors.local import Local

executor = Local(workers=2, devices=[])
if {kind!r} == "function":
    drive(executor, leaves_processes, Path({folder!r}), [dict(pids={pids!r}, then="hangs")])
else:
    drive(executor, command({command!r}), Path({folder!r}), [dict()])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="tied by prctl and by marks in /proc")
@pytest.mark.parametrize("kind", ["function", "command"])
def test_a_killed_supervisor_leaves_nothing_behind(tmp_path: Path, kind: str) -> None:
    pid_file = tmp_path / "pids"
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
            import os, subprocess, sys, time
            left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                                    start_new_session=True)
            with open({str(pid_file)!r}, "w") as file:
                file.write(f"{{os.getpid()}} {{left.pid}} ")
            time.sleep(600)
        """)
    )
    source = SUPERVISOR.format(
        tests=str(Path(__file__).parent),
        folder=str(tmp_path),
        kind=kind,
        pids=str(pid_file),
        command=f"'{sys.executable}' '{program}'",
    )
    supervisor = subprocess.Popen([sys.executable, "-c", source])
    try:
        until = time.monotonic() + DEADLINE_S
        while not pid_file.exists() or not pid_file.read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.5)
        everything = [int(pid) for pid in pid_file.read_text().split()] + below(supervisor.pid)
        assert len(everything) >= 4
    finally:
        supervisor.kill()
        supervisor.wait()
    assert gone(everything)


def below(pid: int) -> list[int]:
    from tunewright.execution.processes import process_tree

    return [process.pid for process in process_tree.descendants(pid, process_tree.table())]


def test_a_worker_without_its_supervisor_ends(tmp_path: Path) -> None:
    """The pipe alone is enough, where the kernel does not help."""
    orders, write = os.pipe()
    read, messages = os.pipe()
    arguments = [str(orders), str(messages), str(os.getpid()), ""]
    worker = subprocess.Popen(
        [sys.executable, "-m", "tunewright.execution.processes.worker", *arguments],
        pass_fds=(orders, messages),
        start_new_session=True,
    )
    os.close(orders)
    os.close(messages)
    time.sleep(0.5)
    assert worker.poll() is None
    os.close(write)
    assert worker.wait(timeout=DEADLINE_S) != 0
    os.close(read)
