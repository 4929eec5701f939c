"""A short run of a program, which the user allows, to see how it reports its metrics."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tunewright.design.toml_file import toml_value
from tunewright.errors import Misuse
from tunewright.execution.command import Fact, command
from tunewright.execution.line_proposals import propose
from tunewright.execution.processes.program import measurement
from tunewright.project.programs.files import Template
from tunewright.project.programs.written_files import WrittenFile, written_files

MOST_OUTPUT = 1_000_000  # bytes that are kept
SHOWN = 40  # lines at the end that are shown
LONGEST_S = 3600.0
SEED = 1
OUTPUT = "output.txt"  # in the scratch folder


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

    @property
    def toml(self) -> tuple[str, ...]:
        """The lines of tunewright.toml that read its metrics; none if nothing was found.

        A file with the objective's metric counts more than lines, which may be cut or rounded.
        """
        if self.json_lines:
            return ()
        if self.files and (self.files[0].has_metric or not self.patterns):
            return ("[workload.read]", f"file = {toml_value(self.files[0].pattern)}")
        if not self.patterns:
            return ()
        listed = [f"  {_literal(pattern)}," for pattern in self.patterns]
        return ("[workload.read]", "line = [", *listed, "]")


def try_program(made: Template, metric: str, folder: Path, try_s: float) -> TrialRun:
    """Run the command with its defaults for at most `try_s` seconds, then stop all it started."""
    if not 0 < try_s <= LONGEST_S:
        raise Misuse("scan.bad_time", seconds=try_s, most=LONGEST_S)
    if made.required:
        raise Misuse("scan.cannot_try", required=list(made.required))
    own = command(made.text, booleans=made.booleans, defaults=made.defaults)
    with tempfile.TemporaryDirectory(prefix="tunewright-try-") as scratch:
        facts: dict[str, Fact] = {
            "seed": SEED,
            "folder": scratch,
            "start_step": 0,
            "devices": "",
            "port": 0,
        }
        words = own.filled(own.default_values, facts)
        began = time.monotonic()
        status, text = _run(words, folder, scratch, try_s)
        seconds = time.monotonic() - began
        files = written_files(Path(scratch), metric, besides=OUTPUT)
    lines = text.splitlines()
    has_json = any(measurement(line.encode()) is not None for line in lines)
    patterns = () if has_json else propose(text, metric)
    return TrialRun(tuple(words), seconds, status, tuple(lines[-SHOWN:]), patterns, has_json, files)


def _run(words: list[str], folder: Path, scratch: str, try_s: float) -> tuple[int | None, str]:
    """The exit status (None: stopped by us) and the output, both streams together."""
    path = Path(scratch) / OUTPUT
    with path.open("wb") as output:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PYTHONUNBUFFERED": "1", **os.environ},
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
    with path.open("rb") as made:
        return status, made.read(MOST_OUTPUT).decode("utf-8", "replace")


def _literal(pattern: str) -> str:
    """A pattern as TOML writes it with the fewest backslashes."""
    return f"'{pattern}'" if "'" not in pattern and pattern.isprintable() else toml_value(pattern)
