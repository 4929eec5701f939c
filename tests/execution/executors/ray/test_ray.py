"""Trials on a real Ray cluster of several nodes."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.execution import cluster_programs as programs
from tests.execution.cluster_nodes import cluster_of_nodes, node_of
from tests.execution.driving import DEADLINE_S, OBJECTIVE, alive, assignment, drive, gone
from tests.execution.watching import Kept

import tunewright as tw
from tunewright.cli.main import main
from tunewright.errors import WorkloadError
from tunewright.execution.executors.executor import Began, Ended, Logged, Stepped
from tunewright.execution.executors.ray.ray import Ray
from tunewright.execution.run import supervise
from tunewright.store.store import Store
from tunewright.testing import check_executor

# Ray leaves files and processes to the garbage collector
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray")
    with cluster_of_nodes() as made:
        yield made


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return tmp_path / "events"


@pytest.fixture
def make(cluster: Any) -> Iterator[Callable[..., Ray]]:
    """Makes executors on the cluster, and closes them."""
    with contextlib.ExitStack() as made:

        def on_the_cluster(**settings: Any) -> Ray:
            return made.enter_context(contextlib.closing(Ray(address=cluster.address, **settings)))

        yield on_the_cluster


def workload(train: Any, tmp_path: Path, executor: Ray) -> tw.Workload:
    return tw.Workload(train, OBJECTIVE, store=tmp_path / "tuning.db", executor=executor)


def test_the_contract(make: Callable[..., Ray]) -> None:
    check_executor(make(workers=2))


def test_every_trial_has_what_it_asks_for(
    make: Callable[..., Ray], tmp_path: Path, events: Path
) -> None:
    halves = make(resources={"CPU": 0.25, "GPU": 0.5})
    assert halves.slots == 4
    told = drive(halves, programs.together, tmp_path, [{"events": str(events), "many": 4}] * 4)
    assert [one.end.status for one in told] == ["completed"] * 4
    seen = programs.read(events)
    assert Counter(one["visible"] for one in seen) == {"0": 2, "1": 2}, "four halves of two GPUs"
    assert all(one["devices"] == [one["visible"]] for one in seen)
    assert {one.began[0].devices for one in told} == {("0",), ("1",)}
    halves.close()
    disk = make(resources={"fast_disk": 1})
    assert disk.slots == 1
    (told_disk,) = drive(
        disk, programs.together, tmp_path / "disk", [{"events": str(events), "many": 1}]
    )
    assert told_disk.end.status == "completed"
    (last,) = programs.read(events)[4:]
    assert (last["visible"], last["devices"]) == ("", []), "no GPU asked for, none seen"


def test_what_no_node_has_is_refused_before_compute(
    make: Callable[..., Ray], tmp_path: Path, events: Path
) -> None:
    executor = make(resources={"fast_disc": 1})
    round = tw.Round(
        "asks", goal="?", scientific={}, nuisance={"x": tw.linear(0, 1)},
        fixed={"events": str(events), "steps": 5, "sleep_s": 0.0}, trials_per_study=2,
    )  # fmt: skip
    with pytest.raises(WorkloadError) as refused:
        tw.run(round, workload(programs.steady, tmp_path, executor))
    said = str(refused.value)
    assert "needs CPU 1, fast_disc 1" in said and "Did you mean fast_disk?" in said
    assert "GPU 2" in said, "what the cluster has"
    assert programs.read(events) == []
    with Store.open(tmp_path / "tuning.db") as store:
        assert store.round("asks").counts == {"pending": 2}


def test_curves_arrive_while_a_trial_trains(
    make: Callable[..., Ray], tmp_path: Path, events: Path
) -> None:
    executor = make()
    given = assignment(tmp_path / "t0", {"events": str(events)})
    executor.start(tw.Workload(programs.patient, OBJECTIVE), [given])
    told: list = []
    until = time.monotonic() + DEADLINE_S
    while not any(isinstance(one, Ended) for one in told) and time.monotonic() < until:
        told += executor.events(0.2)
        if any(isinstance(one, Logged) for one in told):
            (given.folder / "go").touch()  # nothing else ends it
    assert told[-1].outcome.status == "completed"
    assert sum(isinstance(one, Logged) for one in told) >= 2


def test_a_trial_that_heeds_nothing_is_ended_with_all_it_started(
    make: Callable[..., Ray], tmp_path: Path, events: Path
) -> None:
    executor = make()

    def stop() -> None:
        if programs.read(events):
            executor.stop(100, grace_s=0.5)

    (told,) = drive(
        executor, programs.stubborn, tmp_path, [{"events": str(events)}], meanwhile=stop
    )
    assert (told.end.status, told.end.reason.code) == ("stopped", "stopped.grace_over")
    assert "a line for the log" in told.log
    (start,) = programs.read(events)
    assert gone([start["pid"], start["child"]])
    (died,) = drive(executor, programs.dies, tmp_path / "dies", [{}])
    assert (died.end.status, died.end.reason.code) == ("died", "process.exited")
    assert died.end.reason.facts["status"] == 7


def test_close_leaves_the_cluster_and_the_program_as_they_were(
    cluster: Any, make: Callable[..., Ray], capfd: pytest.CaptureFixture[str]
) -> None:
    import ray

    before = signal.getsignal(signal.SIGTERM)
    executor = make()
    assert executor.slots == 2
    assert ray.is_initialized() and signal.getsignal(signal.SIGTERM) is before
    executor.close()
    executor.close()
    assert not ray.is_initialized() and cluster.remaining_processes_alive()
    ray.init(address=cluster.address, logging_level=logging.ERROR, log_to_driver=False)
    try:
        with pytest.raises(WorkloadError, match="give runtime_env to its"):
            Ray(runtime_env={"env_vars": {"A": "b"}}).slots  # noqa: B018
        mine = Ray()
        assert mine.slots == 2
        mine.close()
        assert ray.is_initialized(), "it is the program's own connection"
    finally:
        ray.shutdown()
    assert capfd.readouterr().out == ""


def test_a_folder_that_the_node_does_not_see(
    cluster: Any,
    make: Callable[..., Ray],
    tmp_path: Path,
    events: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    node = cluster.add_node(num_cpus=1, resources={"alone": 1})
    executor = make(resources={"alone": 1})
    configuration = {"events": str(events), "steps": 10_000, "sleep_s": 0.02}
    given = assignment(tmp_path / "trials" / "t0", configuration)
    executor.start(tw.Workload(programs.steady, OBJECTIVE), [given])
    (sign,) = given.folder.parent.glob(".seen-*")
    sign.unlink()  # as if it had been made on another machine's disk
    told: list = []
    until = time.monotonic() + DEADLINE_S
    while not any(isinstance(one, Ended) for one in told) and time.monotonic() < until:
        told += executor.events(0.2)
        if node is not None and sum(one["what"] == "step" for one in programs.read(events)) > 12:
            cluster.remove_node(node, allow_graceful=False)
            node = None
    executor.close()
    end = told[-1]
    assert end.status == "died" and end.seconds > 0
    assert (end.reason.code, end.reason.facts["what"]) == ("host.lost", "node")
    assert end.reason.facts["folder_lost"], "the next attempt starts at step 0"
    kinds = {type(one) for one in told} - {Stepped}  # which depends on how long it took
    assert kinds == {Began, Logged, Ended}, "no snapshot that is not there"
    assert "are not seen from" in caplog.text
    assert not list(given.folder.parent.glob(".seen-*"))
    assert gone([programs.read(events)[0]["pid"]])


def test_a_lost_node_costs_an_attempt_and_no_step(
    cluster: Any, make: Callable[..., Ray], tmp_path: Path, events: Path
) -> None:
    extra = [cluster.add_node(num_cpus=1, resources={"rack": 1}, wait=False) for _ in range(2)]
    cluster.wait_for_nodes()
    executor = make(resources={"rack": 1})
    assert executor.slots == 2
    round = tw.Round(
        "lost", goal="?", scientific={}, nuisance={"x": tw.linear(0, 1)},
        fixed={"events": str(events), "steps": 40, "sleep_s": 0.1}, trials_per_study=2,
    )  # fmt: skip
    killed: list[dict[str, Any]] = []

    def kill_a_node() -> None:
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until and not killed:
            far = [one for one in programs.read(events) if one.get("step", 0) >= 12]
            if far:
                killed.append(far[0])
                cluster.remove_node(node_of(far[0]["pid"], extra), allow_graceful=False)
            time.sleep(0.05)

    killer, kept = threading.Thread(target=kill_a_node), Kept()
    killer.start()
    results = supervise(round, workload(programs.steady, tmp_path, executor), watch=kept)
    killer.join()
    left = [node for node in extra if node in cluster.worker_nodes]
    for node in left:
        cluster.remove_node(node)
    assert len(left) == 1

    number = killed[0]["number"]
    assert [(one.status, one.number) for one in results.trials] == [
        ("completed", 0),
        ("completed", 1),
    ]
    own = [one for one in programs.read(events) if one["number"] == number]
    starts = [one for one in own if one["what"] == "start"]
    assert [one["attempt"] for one in starts] == [1, 2], "the same number, the next attempt"
    resumed = starts[1]["step"]
    assert resumed >= 10 and starts[1]["restored"] == {"step": resumed}
    steps = [one["step"] for one in own if one["what"] == "step" and one["attempt"] == 2]
    assert steps == list(range(resumed + 1, 41)), "it went on where it was saved"
    assert Counter(one["number"] for one in programs.read(events) if one["what"] == "finish") == {
        0: 1,
        1: 1,
    }
    (trial,) = [one for one in results.trials if one.number == number]
    assert results.curves(trial, "valid_error").steps.tolist() == list(range(1, 41))
    with Store.open(tmp_path / "tuning.db") as store:
        first, second = store.attempts(trial.identity)
    assert first.outcome == "died" and first.cause.code == "host.lost"
    assert second.start_step == resumed
    assert [one.reason for one in kept.all("ended") if one.status == "pending"] == [first.cause]


SHIPPED = """
import os
from pathlib import Path

def train(run):
    print(os.environ["COLOUR"], Path("data.txt").read_text(), flush=True)
    run.log(1, valid_error=0.5)
"""


def test_a_project_is_shipped_to_nodes_that_lack_it(
    make: Callable[..., Ray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "shipped_program.py").write_text(SHIPPED)
    (project / "data.txt").write_text("sky")
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(str(project))
    import shipped_program

    executor = make(runtime_env={"working_dir": ".", "env_vars": {"COLOUR": "blue"}})
    given = assignment(tmp_path / "trials" / "t0")
    executor.start(tw.Workload(shipped_program.train, OBJECTIVE), [given])
    project.rename(tmp_path / "gone")  # nodes are elsewhere: they never had it
    told: list = []
    until = time.monotonic() + DEADLINE_S
    while not any(isinstance(one, Ended) for one in told) and time.monotonic() < until:
        told += executor.events(0.2)
    assert told[-1].outcome.status == "completed", told[-1]
    assert (given.folder / "log.1.txt").read_text().strip() == "blue sky"


def test_the_program_of_the_page_about_clusters_runs(cluster: Any, tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "clusters.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    for shown, ours in (
        ("head:6379", cluster.address),
        ("tuning.db", str(tmp_path / "tuning.db")),
        ("/shared/trials", str(tmp_path / "trials")),
    ):
        assert shown in program
        program = program.replace(shown, ours)
    script = tmp_path / "page.py"
    script.write_text(f"{program}print(results.counts)")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{'completed': 4}\n"


@pytest.mark.slow
def test_a_wrong_token_is_refused(cluster: Any) -> None:
    script = (
        f"from tunewright.execution.executors.ray.ray import Ray; Ray({cluster.address!r}).slots"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "RAY_AUTH_TOKEN": secrets.token_hex(32)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert "its token is missing or wrong here" in done.stderr


TRAIN = """
def train(run, learning_rate, max_train_steps=3):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=learning_rate / step)
"""
ROUND = """
goal = "Which learning rate?"
trials_per_study = 3
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
"""


def test_the_command_line(
    cluster: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "train.py").write_text(TRAIN)
    assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "rate.toml").write_text(ROUND)
    on_ray = ["--on", "ray", "--ray-address", cluster.address, "--resources", "fast_disk=1"]
    assert main(["run", "rate", *on_ray]) == 0
    assert "3 trials: 3 completed" in capsys.readouterr().out
    assert main(["repeat", "rate", "--times", "2", *on_ray]) == 0
    assert "its repeats" in capsys.readouterr().out
    assert main(["run", "rate", "--trials", "9", *on_ray[:-1], "GPU=3"]) == 2
    assert "no node of the Ray cluster has that" in capsys.readouterr().err


def test_the_driver_killed_and_started_again(cluster: Any, tmp_path: Path, events: Path) -> None:
    script, store = Path(__file__).parents[2] / "cluster_driver.py", tmp_path / "tuning.db"
    words = [sys.executable, str(script), cluster.address, str(store), str(events)]

    def finished() -> Counter:
        return Counter(one["number"] for one in programs.read(events) if one["what"] == "finish")

    with (tmp_path / "output").open("wb") as output:
        driver = subprocess.Popen(words, stdout=output, stderr=output)
        try:
            programs.wait_for(lambda: len(finished()) >= 3 or driver.poll() is not None)
            assert driver.poll() is None, (tmp_path / "output").read_text()
        finally:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
    trained = {one["pid"] for one in programs.read(events)}
    assert gone(sorted(trained)), "what it trained ends with it"
    before = finished()
    recorded = {one.number for one in tw.load(store, "restart").trials if one.status == "completed"}
    assert recorded and recorded <= set(before)
    again = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert again.stdout == "", "Ray keeps its words to itself"
    results = tw.load(store, "restart")
    assert [(one.number, one.status) for one in results.trials] == [
        (number, "completed") for number in range(6)
    ]
    for number in recorded:
        assert finished()[number] == 1, "what was recorded never ran again"
    assert set(finished()) == set(range(6))
    for one in results.trials:
        assert results.curves(one, "valid_error").steps.tolist() == list(range(1, 21))
    assert not [pid for pid in {one["pid"] for one in programs.read(events)} if alive(pid)]
