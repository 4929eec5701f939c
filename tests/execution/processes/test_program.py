"""A command's program at work: measurements, log, stop and end, in this process and in workers."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.execution.driving import Told, drive, gone

from tunewright.errors import WorkloadError
from tunewright.execution.command import Command, command
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.processes.program import Lines, measurement
from tunewright.messages import Message

pytestmark = pytest.mark.beyond_core  # most of them start processes


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    executor = Local(workers=2, devices=[])
    yield executor
    executor.close()


@pytest.fixture(params=["inline", "local"])
def executor(request: pytest.FixtureRequest, local: Local) -> Executor:
    return Inline() if request.param == "inline" else local


def program(folder: Path, source: str, arguments: str = "") -> Command:
    file = folder / "program.py"
    file.write_text("import json, os, sys, time\n" + source)
    return command(f"'{sys.executable}' '{file}' {arguments}")


def run(executor: Executor, own: Command, folder: Path, **configuration: object) -> Told:
    return drive(executor, own, folder, [configuration])[0]


def test_measurements_become_curves_and_the_rest_the_log(
    executor: Executor, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    source = """
print("hello")
for step in (1, 2.0, 3):
    print(json.dumps({"step": step, "valid_error": float(sys.argv[1]) / step}))
print('{"level": "info"}')
print('{"step": broken')
print("trouble", file=sys.stderr)
sys.stdout.write("no line end")
"""
    told = run(executor, program(tmp_path, source, "{x}"), tmp_path, x=6.0)
    assert told.end.status == "completed"
    assert list(told.curves["valid_error"].values) == [6.0, 3.0, 2.0]
    if isinstance(executor, Local):
        printed = told.log
    else:
        captured = capfdbinary.readouterr()
        printed = (captured.out + captured.err).decode()
    for line in ("hello", '{"level": "info"}', '{"step": broken', "trouble", "no line end"):
        assert line in printed
    assert '"valid_error"' not in printed


def test_every_field_both_as_argument_and_variable(local: Local, tmp_path: Path) -> None:
    source = """
names = "SEED FOLDER START_STEP EVAL_EVERY DEVICES PORT".split()
found = {"arguments": sys.argv[1:], "variables": [os.environ["TUNEWRIGHT_" + n] for n in names]}
found["config"] = json.load(open(sys.argv[7]))
json.dump(found, open(os.environ["TUNEWRIGHT_FOLDER"] + "/found.json", "w"))
print('{"step": 1, "valid_error": 0.5}')
"""
    facts = " ".join(
        f"{{run.{name}}}"
        for name in ("seed", "folder", "start_step", "eval_every", "devices", "port")
    )
    own = program(tmp_path, source, f"{facts} {{config}} {{overrides}}")
    told = run(local, own, tmp_path, **{"optimizer.lr": 1e-05, "max_train_steps": 500})
    assert told.end.status == "completed", told.end
    found = json.loads((told.folder / "found.json").read_text())
    seed, folder, start, every, devices, port, config, *overrides = found["arguments"]
    assert [seed, folder, start, every, devices, port] == found["variables"]
    assert (seed, folder, start, every) == ("7", str(told.folder), "0", "5")
    assert devices == "" and 1024 <= int(port) < 65536
    assert Path(config).parent == told.folder
    assert overrides == ["optimizer.lr=1e-05", "max_train_steps=500"]
    assert found["config"]["optimizer.lr"] == 1e-05
    assert found["config"]["run.seed"] == 7


def test_it_says_itself_that_it_is_infeasible(executor: Executor, tmp_path: Path) -> None:
    source = """print('{"infeasible": "heads do not divide width"}', flush=True); sys.exit(1)"""
    told = run(executor, program(tmp_path, source), tmp_path)
    said = Message("trial.infeasible", {"text": "heads do not divide width"})
    assert (told.end.status, told.end.reason) == ("infeasible", said)


@pytest.mark.parametrize(
    ("line", "outcome", "code"),
    [
        ('{"step": 1, "valid_error": NaN}', "infeasible", "metric.not_finite"),
        ('{"step": 1, "valid_error": "low"}', "failed", "value.text"),
        ('{"step": 1, "valid_error": null}', "failed", "value.none"),
        ('{"step": 1.5, "valid_error": 1}', "failed", "step.not_whole"),
    ],
)
def test_a_bad_measurement_ends_it(
    local: Local, tmp_path: Path, line: str, outcome: str, code: str
) -> None:
    told = run(local, program(tmp_path, f"print({line!r}); time.sleep(600)"), tmp_path)
    assert told.end.status == outcome
    assert told.end.reason is not None and told.end.reason.code == code


def test_steps_that_go_back_name_the_output(local: Local, tmp_path: Path) -> None:
    source = """print('{"step": 5}'); print('{"step": 4}'); time.sleep(600)"""
    told = run(local, program(tmp_path, source), tmp_path)
    assert told.end.status == "failed"
    assert "where   the program's output" in told.end.detail


def test_it_may_resume_from_its_own_checkpoint(executor: Executor, tmp_path: Path) -> None:
    source = """print('{"resumed_at": 400}'); print('{"step": 401, "valid_error": 0.5}')"""
    told = run(executor, program(tmp_path, source), tmp_path)
    assert told.end.status == "completed"
    assert told.began[-1].start_step == 400


@pytest.mark.parametrize(
    ("source", "outcome", "status", "signal"),
    [
        ("print('the reason'); sys.exit(3)", "failed", 3, ""),
        ("raise ValueError('no data')", "failed", 1, ""),
        ("os.kill(os.getpid(), 9)", "died", -9, "SIGKILL"),
        ("os.kill(os.getpid(), 11)", "died", -11, "SIGSEGV"),
        ("sys.exit(137)", "died", 137, ""),
    ],
)
def test_how_it_ends(
    local: Local, tmp_path: Path, source: str, outcome: str, status: int, signal: str
) -> None:
    told = run(local, program(tmp_path, source), tmp_path)
    assert told.end.status == outcome
    error = {"error": "ValueError: no data"} if "ValueError" in source else {}
    facts = {"status": status, "signal": signal, **error}
    assert told.end.reason == Message("program.exited", facts)
    if "reason" in source:
        assert "the reason" in told.end.detail  # the end of its log
    if "ValueError" in source:
        assert "ValueError: no data" in told.end.detail


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="no_such_program: there is no such program"):
        run(Local(workers=1, devices=[]), command("no_such_program {x}"), tmp_path, x=1)
    told = run(Inline(), command("no_such_program {x}"), tmp_path, x=1)
    assert told.end.status == "failed"
    assert told.end.reason is not None and told.end.reason.code == "program.not_started"
    assert told.end.reason.facts["program"] == "no_such_program"


@pytest.mark.parametrize("way", ["catches", "ignores"])
def test_a_stop_is_a_sigterm_and_then_an_end(local: Local, tmp_path: Path, way: str) -> None:
    source = """
import signal
def save(*_):
    open(os.environ["TUNEWRIGHT_FOLDER"] + "/saved", "w").close()
    if sys.argv[1] == "catches":
        os._exit(0)
signal.signal(signal.SIGTERM, save)
print('{"step": 1, "valid_error": 0.5}')
while True:
    time.sleep(0.1)
"""
    own = program(tmp_path, source, "{way}")
    asked = []

    def stop_once_it_trains() -> None:
        if not asked and (tmp_path / "t0" / "log.1.txt").exists():
            time.sleep(2)
            asked.append(local.stop(100, grace_s=3.0))

    (told,) = drive(local, own, tmp_path, [{"way": way}], meanwhile=stop_once_it_trains)
    assert told.end.status == "stopped"
    assert (told.folder / "saved").exists()


def test_what_it_leaves_running_is_ended(executor: Executor, tmp_path: Path) -> None:
    source = """
import subprocess
sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
left = [subprocess.Popen(sleeper, start_new_session=session) for session in (False, True)]
print('{"step": 1, "valid_error": 0.5}')
open(os.environ["TUNEWRIGHT_FOLDER"] + "/pids", "w").write(" ".join(str(p.pid) for p in left))
os._exit(0)  # they hold our standard output open
"""
    told = run(executor, program(tmp_path, source), tmp_path)
    assert told.end.status == "completed"
    assert list(told.curves["valid_error"].values) == [0.5]
    assert gone([int(pid) for pid in (told.folder / "pids").read_text().split()], within_s=0)


def test_much_output_does_not_disturb_the_measurements(local: Local, tmp_path: Path) -> None:
    source = """
for step in range(1, 1001):
    print("x" * 20_000)
    print(json.dumps({"step": step, "valid_error": 0.5}))
sys.stdout.write("y" * 3_000_000)
"""
    told = run(local, program(tmp_path, source), tmp_path)
    assert told.end.status == "completed"
    assert len(told.curves["valid_error"]) == 1000
    assert len(told.log) < 2.1 * 2**20


def test_commands_share_a_warm_worker(tmp_path: Path) -> None:
    own = program(tmp_path, "print(json.dumps({'step': 1, 'valid_error': os.getppid()}))")
    executor = Local(workers=1, devices=[])
    try:
        told = drive(executor, own, tmp_path, [{}, {}, {}])
    finally:
        executor.close()
    parents = {float(each.curves["valid_error"].values[0]) for each in told}
    assert len(parents) == 1
    assert parents != {os.getpid()}


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\r", b"")), max_size=10))
def test_lines_come_whole_however_they_arrive(chunks: list[bytes]) -> None:
    lines = Lines()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert b"".join([*found, lines.rest()]) == b"".join(chunks)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in found)


@pytest.mark.parametrize(
    "line", [b"", b"text", b"[1]", b'{"a": 1}', b"{" * 100_000, b'{"step": 1', b"\xff{}", b"{}"]
)
def test_other_lines_are_no_measurements(line: bytes) -> None:
    assert measurement(line) is None
