"""Commands that train, each in a separate process that outlives the server, found by a handle."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tunewright.errors import NotFound
from tunewright.store.leases import start_of

FOLDER = Path(".tunewright", "jobs")  # below the project's folder
State = Literal["running", "finished", "died"]
_children: dict[int, subprocess.Popen[bytes]] = {}  # of this server: reaped when they end


@dataclass(frozen=True)
class Job:
    """A command that was started, and the process that runs it."""

    handle: str
    kind: str  # run, launch, judge
    about: str  # the round, or the change
    argv: tuple[str, ...]
    pid: int
    began: str  # marks the process: a later one may have its pid
    at: float  # seconds since 1970

    def answer_path(self, folder: Path) -> Path:
        """Where its envelope goes."""
        return folder / FOLDER / f"{self.handle}.out"

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        child = _children.get(self.pid)
        if child is not None and child.poll() is not None:
            del _children[self.pid]
            return False
        return start_of(self.pid) == self.began != ""

    def state(self, folder: Path) -> State:
        """Whether it runs, has answered, or died without an answer."""
        if self.envelope(folder) is not None:
            return "finished"
        return "running" if self.alive else "died"

    def envelope(self, folder: Path) -> dict[str, Any] | None:
        """What the command answered; None before it has."""
        with contextlib.suppress(OSError, ValueError):
            data = json.loads(self.answer_path(folder).read_text(encoding="utf-8"))
            return data if isinstance(data, dict) else None
        return None


def start(folder: Path, kind: str, about: str, arguments: Sequence[str]) -> Job:
    """Start a command of ours with `--json` in a new session; no shell is involved."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    ignored = place.parent / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")
    count = 1 + max((int(p.stem.rpartition("-")[2]) for p in place.glob("*-*.json")), default=0)
    handle = f"{kind}-{count}"
    argv = (sys.executable, "-m", "tunewright", *arguments)
    with (
        (place / f"{handle}.out").open("wb") as out,
        (place / f"{handle}.log").open("wb") as log,
    ):
        child = subprocess.Popen(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    _children[child.pid] = child
    job = Job(handle, kind, about, argv, child.pid, start_of(child.pid), time.time())
    text = json.dumps(asdict(job))
    (place / f"{handle}.json").write_text(text, encoding="utf-8")
    return job


def wait(job: Job, seconds: float) -> None:
    """Wait until a job has ended, or so long."""
    until = time.monotonic() + seconds
    while job.alive and time.monotonic() < until:
        time.sleep(0.05)


def find(folder: Path, handle: str) -> Job:
    """The job of a handle, whichever server started it."""
    path = folder / FOLDER / f"{handle}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return Job(**{**data, "argv": tuple(data["argv"])})
    except (OSError, ValueError, TypeError, KeyError):
        known = sorted(p.stem for p in (folder / FOLDER).glob("*-*.json"))
        raise NotFound("mcp.no_handle", handle=handle, known=known[-5:]) from None


def newest(folder: Path, about: str) -> Job | None:
    """The newest job about a round; None where there was none."""
    known = [find(folder, path.stem) for path in (folder / FOLDER).glob("*-*.json")]
    about_it = [job for job in known if job.about == about]
    return max(about_it, key=lambda job: job.at, default=None)
