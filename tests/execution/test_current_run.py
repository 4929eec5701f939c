"""`tw.current_run()`: alone, in a function, and in the program of a command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.execution.driving import OBJECTIVE, assignment, drive

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.errors import WorkloadError
from tunewright.execution import current_run as module
from tunewright.execution.command import command
from tunewright.execution.current_run import VARIABLE, Printing, describe
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.handle import Handle
from tunewright.execution.training_run import Run

PROGRAM = """
import os, signal, sys, time
import tunewright as tw

run = tw.current_run()
state = run.restored or {"w": 0.0}
w = state["w"]
print("half a line", end="")
run.applied(lr=run.configuration["lr"])
for step in run.steps(20):
    w += run.configuration["lr"]
    run.log(step, valid_error=1.0 / step, w=w)
    if step == 7 and run.attempt == 1:
        run.save({"w": w})
        run.flush()
        if sys.argv[1] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[1] == "infeasible":
            raise tw.Infeasible("too wide")
        if sys.argv[1] == "stopped":
            os.kill(os.getpid(), signal.SIGTERM)
    if run.save_due(step):
        run.save({"w": w})
print("finished")
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_of_program", [])
    monkeypatch.delenv(VARIABLE, raising=False)


def uses_it(run: Run, lr: float) -> None:
    own = tw.current_run()
    assert own is run and not own.alone
    own.log(1, valid_error=lr)


def test_alone_it_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = tw.current_run()
    assert run is tw.current_run() and run.alone and run.configuration == {}
    steps = []
    for step in run.steps(5):
        steps.append(step)
        run.log(step, loss=float("nan"))
        run.applied(lr=0.1)
        if run.eval_due(step) and run.save_due(step):
            run.save({"never": 1})
    run.save({"never": 1})
    assert steps == [1, 2, 3, 4, 5] and run.restored is None and run.start_step == 0
    assert run.folder == tmp_path and list(tmp_path.iterdir()) == []


def test_a_function_finds_its_own_handle(tmp_path: Path) -> None:
    (told,) = drive(Inline(), uses_it, tmp_path, [{"lr": 0.5}])
    assert told.end.status == "completed", told.end
    assert tw.current_run().alone


def test_a_bad_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, '{"assignment": {}}')
    with pytest.raises(WorkloadError) as caught:
        tw.current_run()
    assert caught.value.code == "run.bad_environment"


def test_a_program_reads_what_was_described(tmp_path: Path) -> None:
    own = assignment(tmp_path, {"lr": 0.5, "name": "é"})
    before = signal.getsignal(signal.SIGTERM), sys.excepthook
    try:
        run = Printing(describe(own, OBJECTIVE, Meaning(), ("0", "1")))
    finally:
        signal.signal(signal.SIGTERM, before[0])
        sys.excepthook = before[1]
    assert run.configuration == own.configuration and run.devices == ("0", "1")
    assert run.seeds == Handle(own, OBJECTIVE, Meaning(), lambda event: None).seeds


@pytest.mark.parametrize(
    ("variables", "rank"),
    [({"RANK": "3"}, 3), ({"LOCAL_RANK": "1"}, 1), ({"NODE_RANK": "1", "LOCAL_RANK": "0"}, 1)],
)
def test_only_rank_0_speaks(
    variables: dict[str, str], rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tunewright.execution.processes import surroundings

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert surroundings.rank() == rank


@pytest.mark.beyond_core
def test_a_program_reports_and_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    program = f"'{sys.executable}' '{tmp_path / 'program.py'}'"
    own = command(f"{program} {{way}} {{lr}} {{max_train_steps}}")
    ways = ("ends", "infeasible", "killed")
    given = [{"way": way, "lr": 0.5, "max_train_steps": 20} for way in ways]
    executor = Local(workers=1, devices=[])
    try:
        ends, infeasible, killed = drive(executor, own, tmp_path, given)
    finally:
        executor.close()
    assert ends.end.status == "completed", ends.end
    assert list(ends.curves["valid_error"].steps) == list(range(1, 21))
    assert list(ends.curves["w"].values) == [0.5 * step for step in range(1, 21)], "every digit"
    assert 7 in [saved.step for saved in ends.saved] and ends.saved[-1].step == 20
    log = (ends.folder / "log.1.txt").read_text()
    assert "half a line" in log and "finished" in log and '{"step"' not in log
    assert infeasible.end.status == "infeasible" and infeasible.end.reason is not None
    assert infeasible.end.reason.facts["text"] == "too wide"
    assert killed.end.status == "died"
    assert [saved.step for saved in killed.saved][-1] == 7


@pytest.mark.beyond_core
def test_a_stop_request_lets_it_save_first(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    given = describe(assignment(tmp_path, {"lr": 0.5}), OBJECTIVE, Meaning(), ())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), VARIABLE: given}
    words = [sys.executable, str(tmp_path / "program.py"), "stopped"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=100)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["saved"]["step"] for line in lines if "saved" in line][-1] <= 8
    assert max(line["step"] for line in lines if "step" in line) <= 8
    assert done.returncode != 0 and "Traceback" not in done.stderr
