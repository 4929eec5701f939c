"""A short run of a program, which the user allows: how it reports metrics, what it writes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.workload_file import toml_value
from tunewright.errors import Misuse
from tunewright.execution.command import Fact, command
from tunewright.execution.current_run import VARIABLE, describe
from tunewright.execution.executors.executor import Assignment
from tunewright.execution.growing_file import EVENTS, KINDS, FileReader, GrowingFile
from tunewright.execution.line_patterns import STEP
from tunewright.execution.line_proposals import propose
from tunewright.execution.processes.program import measurement
from tunewright.messages import Message
from tunewright.project.programs.files import Template

_MOST_FILES = 2_000  # below the folder that are looked at
_MOST_SHOWN = 8
_NUMBERED = re.compile(r"\d+")
_MOST_OUTPUT = 1_000_000  # bytes that are kept
_LAST_LINES = 40  # lines at the end that are shown
_LONGEST_S = 3600.0
_SEED = 1
_OUTPUT = "output.txt"  # in the scratch folder


@dataclass(frozen=True)
class WrittenFile:
    """A file with measurements: how to find it in any trial's folder, and its metrics."""

    pattern: str
    metrics: tuple[str, ...]
    points: int
    has_metric: bool  # the objective's


def measurement_files(folder: Path, metric: str, besides: str = "") -> tuple[WrittenFile, ...]:
    """The files below a folder that have a step and numbers; with the objective's metric first."""
    by_pattern: dict[str, WrittenFile] = {}
    for path in sorted(folder.rglob("*"))[:_MOST_FILES]:
        inside = path.relative_to(folder)
        kind = path.suffix in KINDS or EVENTS in path.name
        if not kind or not path.is_file() or inside.as_posix() == besides:
            continue
        pattern = _pattern(inside)
        if pattern in by_pattern:
            continue
        readings = FileReader(GrowingFile(pattern), folder).read()
        metrics = tuple(dict.fromkeys(name for reading in readings for name in reading.metrics))
        if metrics:
            by_pattern[pattern] = WrittenFile(pattern, metrics, len(readings), metric in metrics)
    ranked = sorted(by_pattern.values(), key=lambda file: (not file.has_metric, -file.points))
    return tuple(ranked[:_MOST_SHOWN])


def _pattern(inside: Path) -> str:
    """Where such a file is in another trial's folder: numbers and folders differ by run.

    >>> _pattern(Path("lightning_logs/version_0/metrics.csv"))
    '**/metrics.csv'
    >>> _pattern(Path("log_12.csv")), _pattern(Path("runs/events.out.tfevents.17.host"))
    ('log_*.csv', '**/events.out.tfevents.*')
    """
    name = f"events.out.{EVENTS}.*" if EVENTS in inside.name else _NUMBERED.sub("*", inside.name)
    return name if len(inside.parts) == 1 else f"**/{name}"


@dataclass(frozen=True)
class TrialRun:
    """What a short run of the program printed and wrote, and how its metrics can be read."""

    argv: tuple[str, ...]
    seconds: float
    status: int | None  # None: it was stopped when its time was over
    output: tuple[str, ...]  # the last lines
    patterns: tuple[str, ...]  # of lines that are measurements
    json_lines: bool  # it prints measurements as JSON already
    files: tuple[WrittenFile, ...] = ()  # with measurements, in its folder; the best first
    printed: tuple[str, ...] = ()  # the metrics of those JSON lines

    @property
    def message(self) -> Message:
        """What the run found, or why it may have found nothing."""
        facts = {"seconds": self.seconds, "status": self.status}
        if self.json_lines:
            return Message("scan.tried_json", facts)
        if self.patterns or self.files:
            counts = {"patterns": len(self.patterns), "files": len(self.files)}
            return Message("scan.tried", {**facts, **counts})
        if self.status is None:
            return Message("scan.tried_stopped", facts)
        return Message("scan.tried_failed" if self.status else "scan.tried_nothing", facts)

    @property
    def notes(self) -> tuple[Message, ...]:
        """A Python that may lack what the program imports, where the run failed."""
        word = self.argv[0]
        python = (
            shutil.which(word) if self.status and Path(word).name.startswith("python") else None
        )
        if python is None or Path(python).parent == Path(sys.executable).parent:
            return ()
        facts = {"word": word, "found": python, "own": sys.executable}
        return (Message("scan.other_python", facts),)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics that will be read, in the order of their first appearance."""
        if self.json_lines:
            return self.printed
        if self._reads_file:
            return self.files[0].metrics
        names = (name for pattern in self.patterns for name in re.compile(pattern).groupindex)
        return tuple(dict.fromkeys(name for name in names if name != STEP))

    @property
    def _reads_file(self) -> bool:
        """A file with the objective's metric goes before lines, which may be cut or rounded."""
        return bool(self.files) and (self.files[0].has_metric or not self.patterns)

    @property
    def toml(self) -> tuple[str, ...]:
        """The lines of tunewright.toml that read its metrics; none if nothing was found."""
        if self.json_lines:
            return ()
        if self._reads_file:
            return ("[workload.read]", f"file = {toml_value(self.files[0].pattern)}")
        if not self.patterns:
            return ()
        listed = [f"  {_literal(pattern)}," for pattern in self.patterns]
        return ("[workload.read]", "line = [", *listed, "]")


def try_program(template: Template, metric: str, folder: Path, try_s: float) -> TrialRun:
    """Run the command with its defaults for at most `try_s` seconds, then stop all it started.

    It runs as a trial does, so that an adapter in it prints its measurements.
    """
    if not 0 < try_s <= _LONGEST_S:
        raise Misuse("scan.bad_time", seconds=try_s, most=_LONGEST_S)
    if template.required:
        raise Misuse("scan.cannot_try", required=list(template.required))
    program = command(template.text, booleans=template.booleans, defaults=template.defaults)
    with tempfile.TemporaryDirectory(prefix="tunewright-try-") as scratch:
        facts: dict[str, Fact] = {
            "seed": _SEED,
            "folder": scratch,
            "start_step": 0,
            "devices": "",
            "port": 0,
        }
        words = program.fill(program.default_values, facts)
        trial = Assignment(
            trial=0,
            attempt=1,
            number=0,
            round="try",
            configuration=program.default_values,
            seed=_SEED,
            split_seed=_SEED,
            folder=Path(scratch),
        )
        about_trial = {VARIABLE: describe(trial, Objective(metric, True), Meaning(), ())}
        began = time.monotonic()
        status, text = _run(words, folder, scratch, try_s, about_trial)
        seconds = time.monotonic() - began
        files = measurement_files(Path(scratch), metric, besides=_OUTPUT)
    lines = text.splitlines()
    printed = [record for line in lines if STEP in (record := measurement(line.encode()) or {})]
    return TrialRun(
        tuple(words),
        seconds,
        status,
        output=tuple(lines[-_LAST_LINES:]),
        patterns=() if printed else propose(text, metric),
        json_lines=bool(printed),
        files=files,
        printed=tuple(dict.fromkeys(key for record in printed for key in record if key != STEP)),
    )


def _run(
    words: list[str], folder: Path, scratch: str, try_s: float, variables: Mapping[str, str]
) -> tuple[int | None, str]:
    """The exit status (None: stopped by us) and the output, both streams together."""
    path = Path(scratch) / _OUTPUT
    with path.open("wb") as output:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PYTHONUNBUFFERED": "1", **os.environ, **variables},
                process_group=0,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise Misuse("scan.not_started", program=words[0], error=reason) from None
        try:
            status: int | None = process.wait(try_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                    process.wait(2)
                except (ProcessLookupError, PermissionError):
                    break
                except subprocess.TimeoutExpired:
                    continue
            process.wait()
    with path.open("rb") as written:
        return status, written.read(_MOST_OUTPUT).decode("utf-8", "replace")


def _literal(pattern: str) -> str:
    """A pattern as TOML writes it with the fewest backslashes."""
    return f"'{pattern}'" if "'" not in pattern and pattern.isprintable() else toml_value(pattern)
