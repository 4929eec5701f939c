"""Rounds that a page may start: those with a file in the project, each in a separate process.

The process is `tunewright run ROUND` in the project's folder, as a user would type it. It continues
when the dashboard ends; `tunewright stop ROUND` ends it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from tunewright.errors import Busy, Misuse
from tunewright.project._project import Project, find
from tunewright.store.address import parse

_TAIL = 8000  # bytes of what a process printed


@dataclass(frozen=True)
class StartedRound:
    """A round that this dashboard has started."""

    round: str
    process: subprocess.Popen[bytes] = field(repr=False)
    output: IO[bytes] = field(repr=False)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def to_data(self) -> dict[str, Any]:
        """What a page shows of it; `code` is None while it runs."""
        path = Path(self.output.name)
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            output = file.read().decode("utf-8", "replace")
        return {
            "round": self.round,
            "pid": self.process.pid,
            "began": self.began.isoformat(),
            "code": self.process.poll(),
            "output": output,
        }


class Rounds:
    """The round files of a project, and the processes that run them."""

    def __init__(self, project: Project) -> None:
        """Rounds of a project may be started."""
        self.project = project
        self._started: list[StartedRound] = []

    @classmethod
    def of(cls, store: str) -> Rounds:
        """The rounds of the project around; refused where there is none, or its store is another.

        A page shows what it starts, so both must be about one store.
        """
        project = find()
        if project is None:
            raise Misuse("ui.no_project", store=parse(store).masked)
        if _place(project.store()) != _place(store):
            raise Misuse(
                "ui.other_store", store=parse(store).masked, own=parse(project.store()).masked
            )
        return cls(project)

    @property
    def names(self) -> Sequence[str]:
        """The rounds that have a file."""
        return self.project.round_names

    def start(self, name: str) -> StartedRound:
        """Run a round, or continue it, in a separate process; its file is checked first."""
        if name not in self.names:
            raise Misuse("ui.no_round_file", round=name, known=list(self.names))
        if any(
            earlier.round == name and earlier.process.poll() is None for earlier in self._started
        ):
            raise Busy("ui.round_runs", round=name)
        self.project.described(name)  # every problem of the file at once
        output = tempfile.NamedTemporaryFile(prefix="tunewright-run-", suffix=".txt")  # noqa: SIM115
        process = subprocess.Popen(
            [sys.executable, "-m", "tunewright", "run", "--", name],
            cwd=self.project.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C at the dashboard is not meant for it
        )
        new_round = StartedRound(name, process, output)
        self._started.append(new_round)
        return new_round

    def to_data(self) -> dict[str, Any]:
        """The round files, and what was started, newest first."""
        started = [started_round.to_data() for started_round in reversed(self._started)]
        return {"files": list(self.names), "started": started}

    def close(self) -> None:
        """Forget what was started; processes that still run continue."""
        for round_ in self._started:
            round_.process.returncode = (
                round_.process.poll() or 0
            )  # no warning about one that runs on
            round_.output.close()


def _place(store: str) -> str:
    address = parse(store)
    return address.url if address.path is None else str(address.path.resolve())
