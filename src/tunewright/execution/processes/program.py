"""A command's program at work: started, listened to, stopped, and ended with all it started.

Each line of its output that is a JSON object with a step is a measurement, and each that a pattern
of the command reads; the latter stay in its log, as do all others.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from typing import IO, Any, Protocol

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import BadValue, DesignError, Infeasible, WorkloadError
from tunewright.execution.command import CONFIG, CONFIG_FILE, Command, Fact, as_config
from tunewright.execution.current_run import VARIABLE, describe
from tunewright.execution.executors.executor import Assignment
from tunewright.execution.growing_file import FileReader
from tunewright.execution.line_patterns import LineReader
from tunewright.execution.processes import process_tree
from tunewright.execution.processes.memory import OomKills
from tunewright.execution.training_run import Run
from tunewright.measured import read
from tunewright.messages import Message
from tunewright.store.outcome import End

LOOK_S = 0.2  # how often it is looked at when it prints nothing
_LEAVE_S = 2.0  # time to leave by itself after it reported that it is infeasible
_LONGEST_LINE = 2**20  # bytes; a longer line is no measurement
OURS = (
    "step",
    "infeasible",
    "resumed_at",
    "applied",
    "saved",
)  # a JSON object with one of these is for us


class Finished(Exception):
    """The program ended in another way than with exit status 0."""

    def __init__(self, outcome: End, reason: Message) -> None:
        """How that ends the attempt, and why."""
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class ProgramControl(Protocol):
    """What a program needs beside the handle; `handle.Control` has it, and so has a probe's."""

    @property
    def run(self) -> Run:
        """The handle that its measurements go to."""
        ...

    @property
    def given(self) -> tuple[Assignment, Objective, Meaning]:
        """What `current_run` in the program makes its handle from."""
        ...

    def saves_itself(self) -> None:
        """The program saves, so that a stop waits for it."""
        ...

    def relay_saved(self, step: int, path: str, sha256: str) -> None:
        """Report a snapshot that the program has written."""
        ...


def run_program(command: Command, control: ProgramControl) -> None:
    """Run the command's program to its end; raises what ended it, as a function would."""
    run = control.run
    facts = _facts(command, run)
    file = run.folder / CONFIG_FILE
    if CONFIG in command.fields:
        file.write_text(as_config(run.configuration, facts), encoding="utf-8")
    words = command.fill(run.configuration, facts, str(file))
    mark = process_tree.new_mark()
    environment = {
        "PYTHONUNBUFFERED": "1",  # measurements of Python programs should come at once
        **os.environ,
        **{f"TUNEWRIGHT_{name.upper()}": str(fact) for name, fact in facts.items()},
        VARIABLE: describe(*control.given, run.devices),
        process_tree.MARK: mark,
    }
    kills = OomKills()
    control.saves_itself()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # a program that is read by patterns may print its measurements to either
            stderr=subprocess.STDOUT if command.read else None,
            env=environment,
            cwd=command.within or None,
            process_group=0,  # so that it can be signalled with its children, and without us
        )
    except OSError as error:
        facts = {"program": words[0], "text": error.strerror or str(error)}
        raise Finished("failed", Message("program.not_started", facts)) from None
    try:
        _listen(process, control, LineReader(command.read), _follower(command, run))
    except Infeasible:
        _leave(process)
        raise
    finally:
        process_tree.kill_group(process.pid)
        status = process.wait()
        assert process.stdout is not None
        process.stdout.close()
        process_tree.kill_marked(mark)
    if run.stop_asked:
        raise Finished("stopped", exit_message("stopped.program_exited", status))
    if status == -signal.SIGKILL and kills.more():
        raise Finished("infeasible", Message("memory.killed", {"what": "program"}))
    if _by_signal(status):
        raise Finished("died", exit_message("program.exited", status))
    if status != 0:
        raise Finished("failed", exit_message("program.exited", status))


def exit_message(code: str, status: int) -> Message:
    """The reason of an end with this exit status.

    >>> str(exit_message("program.exited", -11)), str(exit_message("process.exited", 3))
    ('killed by SIGSEGV', 'the process ended: exit status 3')
    """
    try:
        name = signal.Signals(-status).name if status < 0 else ""
    except ValueError:
        name = ""
    return Message(code, {"status": status, "signal": name})


def _by_signal(status: int) -> bool:
    """Killed itself, or (128 + signal, as shells say it) by way of a wrapper."""
    return status < 0 or status in {
        128 + number for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
    }


def _facts(command: Command, run: Run) -> dict[str, Fact]:
    facts: dict[str, Fact] = {
        "seed": run.seeds.trial,
        "folder": str(run.folder.absolute()),
        "start_step": run.start_step,
        "devices": ",".join(run.devices),
        "port": _free_port(),
    }
    # where the number of steps is unknown, the template is refused only if it asks for this
    with contextlib.suppress(WorkloadError):
        facts["eval_every"] = run.eval_every
    return facts


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _follower(command: Command, run: Run) -> FileReader | None:
    return None if command.file is None else FileReader(command.file, run.folder)


def _listen(
    process: subprocess.Popen[bytes],
    control: ProgramControl,
    reader: LineReader,
    file: FileReader | None,
) -> None:
    """Pass measurements and log lines on until the program has ended; stop it when asked."""
    run = control.run
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    lines = Lines()
    told_to_stop = False
    while True:
        ended = process.poll() is not None
        # a child that outlives the program may hold the pipe open: then its end is never seen
        ready = select.select([process.stdout], [], [], 0 if ended else LOOK_S)[0]
        chunk = _read(process.stdout) if ready else b""
        _take(lines.feed(chunk), control, reader)
        if file is not None:
            _follow(file, run)
        if not chunk and (ended or ready):
            break
        if run.stop_asked and not told_to_stop:
            told_to_stop = True
            process_tree.signal_group(process.pid, signal.SIGTERM)
    _take([lines.rest()], control, reader)
    process.wait()
    if file is not None:  # what it wrote last
        _follow(file, run)


def _follow(file: FileReader, run: Run) -> None:
    for reading in file.read():
        run.log(reading.step, reading.metrics)


def _read(pipe: IO[bytes]) -> bytes:
    try:
        return os.read(pipe.fileno(), 2**16)
    except BlockingIOError:
        return b""


def _take(lines: list[bytes], control: ProgramControl, reader: LineReader) -> None:
    """Measurements go to the run, all lines but JSON ones to the log."""
    run = control.run
    others: list[bytes] = []
    try:
        for line in lines:
            data = measurement(line)
            if data is not None and others and not others[-1].strip():
                others.pop()  # the line end that `current_run` prints before its lines
            if data is None:
                others.append(line)
                if reader and (reading := reader.read(line.decode("utf-8", "replace"))) is not None:
                    run.log(reading.step, reading.metrics)
            elif "infeasible" in data:
                raise Infeasible(str(data["infeasible"]))
            elif "resumed_at" in data:
                run.resumed_at(_whole(data["resumed_at"]))
            elif "step" in data:
                run.log(_whole(data.pop("step")), _metrics(data))
            elif isinstance(data.get("applied"), dict):
                run.applied(data["applied"])
            elif not _relayed_saved(data.get("saved"), control):
                others.append(line)
    finally:
        _print(b"".join(others))


def _metrics(data: dict[str, Any]) -> dict[str, Any]:
    """The metrics of a line; an object {"value": ..., "sd": ..., "n": ...} is a `Measured`."""
    try:
        return {name: read(value) for name, value in data.items()}
    except DesignError as error:
        raise BadValue(error.problems[0]) from None


def _relayed_saved(about: Any, control: ProgramControl) -> bool:
    """Pass on that the program saved a snapshot, if the line reports it as `current_run` does."""
    if not isinstance(about, dict):
        return False
    step, path, checksum = (about.get(name) for name in ("step", "path", "sha256"))
    if type(step) is not int or not isinstance(path, str) or not isinstance(checksum, str):
        return False
    control.relay_saved(step, path, checksum)
    return True


def _print(data: bytes) -> None:
    """To standard output, whatever stands there: a notebook's knows no bytes."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode("utf-8", "backslashreplace"))
    else:
        sys.stdout.flush()
        buffer.write(data)
        buffer.flush()


def measurement(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line that is meant for us, else None.

    >>> measurement(b'{"step": 400, "valid_error": 0.081}')
    {'step': 400, 'valid_error': 0.081}
    >>> measurement(b'{"level": "info"}') is None
    True
    """
    text = line.strip()
    if not text.startswith(b"{") or len(text) > _LONGEST_LINE:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not any(name in data for name in OURS):
        return None
    return data


def _whole(number: Any) -> Any:
    """400.0, as some languages write whole numbers, as 400; anything else as it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _leave(process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _LEAVE_S
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


class Lines:
    """Bytes cut into lines; a line too long to be a measurement comes in pieces."""

    def __init__(self) -> None:
        """Nothing read yet."""
        self._part = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now, with their line ends."""
        *lines, self._part = (self._part + chunk).splitlines(keepends=True) or [b""]
        if self._part.endswith((b"\n", b"\r")) or len(self._part) > _LONGEST_LINE:
            lines.append(self._part)
            self._part = b""
        return lines

    def rest(self) -> bytes:
        """What came without a line end."""
        return self._part
