"""The host of a trial on a node, without any cluster: it is the same process-bound code."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.execution import cluster_programs as programs
from tests.execution.driving import OBJECTIVE, assignment

import tunewright
from tunewright.execution.executors.executor import Began, Ended, Logged, Saved
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.pooled import Load, Loads
from tunewright.execution.executors.ray.host import Host, Printed, at_home
from tunewright.execution.workload import Workload

pytestmark = pytest.mark.beyond_core  # most of them start processes

DEADLINE_S = 120.0


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Host(Limits(), "auto", cpus=1, gpus=0)
    yield made
    made.close()


def load(train) -> Load:
    return Loads().of(Workload(train, OBJECTIVE))


def listen(host: Host, heard: int = 0, until_it: type = Ended) -> list:
    """Everything up to the end, or to the first such event, acknowledged piece by piece."""
    told: list = []
    until = time.monotonic() + DEADLINE_S
    while not any(isinstance(one, until_it) for one in told):
        assert time.monotonic() < until
        first, more = host.tell(heard, 0.5)
        assert first == heard
        told += more
        heard += len(more)
    return told


def test_a_trial_on_a_node_that_sees_its_folder(host: Host, tmp_path: Path) -> None:
    (tmp_path / ".sign").touch()
    events = str(tmp_path / "events")
    given = assignment(tmp_path / "t0", {"events": events})
    assert host.start(1, 0, load(programs.saves_and_prints), given, ".sign")
    told = listen(host)
    kinds = [type(one) for one in told]
    assert kinds[0] is Began and kinds[-1] is Ended and Saved in kinds and Printed not in kinds
    (start,) = programs.read(Path(events))
    assert start["folder"] == str(given.folder)
    assert "printed on the node" in (given.folder / "log.1.txt").read_text()


def test_a_trial_on_a_node_that_does_not_see_its_folder(host: Host, tmp_path: Path) -> None:
    events = str(tmp_path / "events")
    given = assignment(tmp_path / "t0", {"events": events})
    assert not host.start(1, 0, load(programs.saves_and_prints), given, ".sign")
    told = listen(host)
    assert not [one for one in told if isinstance(one, Saved)], "nobody else can read it"
    printed, end = told[-2:]
    assert isinstance(printed, Printed) and b"printed on the node" in printed.text
    assert isinstance(end, Ended) and end.outcome.status == "completed"
    assert list(given.folder.iterdir()) == []
    (start,) = programs.read(Path(events))
    private = Path(start["folder"])
    assert private != given.folder and (private / "snapshots").is_dir(), "its files stay"


def test_orders_and_answers_may_be_repeated(host: Host, tmp_path: Path) -> None:
    (tmp_path / ".sign").touch()
    events = tmp_path / "events"
    given = assignment(tmp_path / "t0", {"events": str(events)})
    sent = load(programs.saves_and_prints)
    assert host.start(1, 3, sent, given, ".sign")
    assert host.start(1, 3, sent, given, ".sign"), "the same answer, and no second attempt"
    told = listen(host, until_it=Began)
    host.tell(0, 0.5)  # the answer was lost: the same again
    told += listen(host, heard=len(told))
    assert host.tell(len(told) - 1, 0.5) == (len(told) - 1, told[-1:]), "kept until acknowledged"
    assert [one["what"] for one in programs.read(events)] == ["start"]
    again = assignment(tmp_path / "t0", {"events": str(events)}, attempt=2)
    assert host.start(2, 3, None, again, ".sign"), "what is trained was sent before"
    listen(host, heard=len(told))
    assert [one["attempt"] for one in programs.read(events)] == [1, 2]


def test_a_stop_ends_a_trial_that_heeds_nothing(host: Host, tmp_path: Path) -> None:
    given = assignment(tmp_path / "t0", {"events": str(tmp_path / "events")})
    host.start(1, 0, load(programs.stubborn), given, ".sign")
    told = listen(host, until_it=Logged)
    host.stop(given.trial, 0.2)
    end = listen(host, heard=len(told))[-1]
    assert end.outcome.status == "stopped" and end.outcome.reason.code == "stopped.grace_over"


def test_where_a_host_is(host: Host) -> None:
    arrived = host.arrive()
    assert arrived.version == tunewright.__version__ and arrived.host and arrived.devices == ()


def test_gpus_are_those_that_ray_has_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    (tmp_path / ".sign").touch()
    seen = []
    for at, gpus in enumerate([2, 0]):
        host = Host(Limits(), "auto", cpus=1, gpus=gpus)
        events = tmp_path / f"events{at}"
        given = assignment(tmp_path / "t0", {"events": str(events), "many": 1})
        host.start(1, 0, load(programs.together), given, ".sign")
        listen(host)
        host.close()
        (start,) = programs.read(events)
        seen.append((start["visible"], start["devices"]))
    assert seen == [("3,5", ["3", "5"]), ("", [])]


def test_a_project_that_stands_elsewhere_on_the_node(tmp_path: Path) -> None:
    here = tmp_path / "shipped"
    (here / "library").mkdir(parents=True)
    away = tmp_path / "project"  # where the supervisor has it; this node has no such folder
    path = (str(away), str(away / "library"), str(away / ".venv/site-packages"), sys.prefix)
    head = {"kind": "load", "folder": str(away), "path": path, "module": "train", "name": "train"}
    placed = at_home(Load(head, b"body"), str(here), ["", "/nowhere/else"]).head
    assert placed["folder"] == str(here)
    assert placed["path"][:3] == (str(here), str(here / "library"), sys.prefix)
    assert placed["path"][-1] == "/nowhere/else", "then this node's own"
    same = at_home(Load({**head, "folder": str(here)}, b""), "/", []).head
    assert same["folder"] == str(here), "what exists is used"


def test_a_function_that_the_node_lacks_is_said_with_the_remedy(host: Host, tmp_path: Path) -> None:
    away = str(tmp_path / "project")
    head = {**load(programs.dies).head, "folder": away, "module": "not_here", "path": (away,)}
    given = assignment(tmp_path / "t0")
    host.start(1, 0, Load(head), given, ".sign")
    end = listen(host)[-1]
    assert end.outcome.status == "failed" and end.outcome.reason.code == "trial.folder_missing"
    assert end.outcome.reason.facts["folder"] == away and "not_here" in str(end.outcome.reason)
