"""What every worker process does alike: orders, requests to stop, an end with its owner."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tunewright.execution.executors.executor import Event, Stepped
from tunewright.execution.processes import pipe_worker
from tunewright.execution.processes.frames import Head, Receiver, to_bytes
from tunewright.execution.processes.pipe_worker import StopRequests, Telling, forget_our_path

ECHO = """
import subprocess, sys
from tunewright.execution.processes.pipe_worker import PipeWorker

class Echo(PipeWorker):
    def _at_once(self, head):
        if head["kind"] == "now":
            self._sender.send({"kind": "first"})
        return head["kind"] == "now"

worker = Echo(int(sys.argv[1]), int(sys.argv[2]))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
worker._sender.send({"kind": "ready", "child": child.pid})
worker.begin()
while True:
    head, body = worker._orders.get()
    worker._sender.send({"kind": "obeyed", "order": head["kind"]}, body)
"""


class Asked:
    """The control of an attempt, as far as a request to stop needs it."""

    def __init__(self, trial: int, attempt: int) -> None:
        self.names, self.stopped = (trial, attempt), False

    def ask_stop(self) -> None:
        self.stopped = True


@pytest.mark.beyond_core
def test_a_worker_obeys_in_order_and_ends_with_its_owner() -> None:
    theirs, orders = os.pipe()
    messages, sends = os.pipe()
    command = [sys.executable, "-c", ECHO, str(theirs), str(sends)]
    worker = subprocess.Popen(command, pass_fds=(theirs, sends), start_new_session=True)
    os.close(theirs)
    os.close(sends)
    receiver = Receiver()
    told: list[tuple[Head, bytes]] = []

    def wait_for(count: int) -> None:
        while len(told) < count:
            data = os.read(messages, 2**16)
            assert data, "it has ended"
            told.extend(receiver.feed(data))

    wait_for(1)
    os.write(orders, to_bytes({"kind": "work"}, b"body"))
    wait_for(2)
    os.write(orders, to_bytes({"kind": "now"}) + to_bytes({"kind": "more"}))
    wait_for(4)
    assert [head.get("order", head["kind"]) for head, _ in told] == [
        *("ready", "work", "first", "more")
    ]
    assert told[1][1] == b"body"
    os.close(orders)
    assert worker.wait(timeout=60) != 0
    child = told[0][0]["child"]
    until = time.monotonic() + 60
    while time.monotonic() < until and os.path.exists(f"/proc/{child}"):
        with open(f"/proc/{child}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                break
        time.sleep(0.05)
    else:
        assert not os.path.exists(f"/proc/{child}"), "what it has started outlived it"
    os.close(messages)


@pytest.mark.parametrize("early", [True, False])
def test_a_request_to_stop_counts_before_and_after_the_attempt_began(early: bool) -> None:
    stops, own, other = StopRequests(), Asked(7, 2), Asked(7, 3)
    order = {"kind": "stop", "trial": 7, "attempt": 2}
    if early:
        stops.ask(order, None)
        stops.began(own)  # type: ignore[arg-type]
    else:
        stops.began(own)  # type: ignore[arg-type]
        assert not own.stopped
        stops.ask(order, own)  # type: ignore[arg-type]
    stops.began(other)  # type: ignore[arg-type]
    assert (own.stopped, other.stopped) == (True, False), "another attempt is another matter"


def test_a_step_is_sent_once_and_no_more_than_every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    class Running:
        step, total = 4, 10

    class Control:
        run, points, names = Running(), 0, (7, 2)

        def tell_points(self) -> None:
            self.points += 1

    control, sent, now = Control(), list[Event](), [100.0]
    monkeypatch.setattr(pipe_worker.time, "monotonic", lambda: now[0])
    telling = Telling()
    telling.tell(control, sent.append)  # type: ignore[arg-type]
    control.run.step = 5
    telling.tell(control, sent.append)  # type: ignore[arg-type]
    now[0] += 2 * pipe_worker.BEAT_S
    telling.tell(control, sent.append)  # type: ignore[arg-type]
    telling.tell(control, sent.append)  # type: ignore[arg-type]
    assert sent == [Stepped(7, 2, 4, 10), Stepped(7, 2, 5, 10)]
    assert control.points == 4, "points are sent every time"


@pytest.mark.parametrize("given", ["", "/their/own"])
def test_the_program_gets_its_own_path_back(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("PYTHONPATH", "/ours")
    forget_our_path(given)
    assert os.environ.get("PYTHONPATH", "") == given


@pytest.mark.beyond_core
def test_a_training_process_loads_no_database() -> None:
    names = "tunewright.execution.processes.worker, tunewright.execution.current_run"
    program = f"import sys, {names}; print(sorted({{'sqlalchemy', 'scipy'}} & set(sys.modules)))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]", "every worker would pay for it at its start"
