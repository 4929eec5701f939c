"""Sinks of a round while it trains: one process each, started here and closed at the end.

The process follows the store, so that neither training programs nor the supervisor ever call a
tracker. At the end of the round it gets as long as the tracker answers; then it is ended, and what
is left to write waits for `tunewright sync`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tunewright.design.workload_file import Sink
from tunewright.messages import Message
from tunewright.store.rounds import inside
from tunewright.store.store import RoundRecord

PROGRAM = "tunewright.sinks._process"
SETTINGS = "TUNEWRIGHT_SINK"
_PATIENCE = "TUNEWRIGHT_SINK_PATIENCE_S"  # an environment variable: the longest call to a tracker
_PATIENCE_S = 60.0
_EVERY = "TUNEWRIGHT_SINK_EVERY_S"  # an environment variable: between looks at the store
EVERY_S = 2.0
_BEYOND_S = 10.0  # after the process should have ended by itself
LOOK_S = 0.05
BUSY = 69  # its exit code where another process writes this sink
FOLDER = "sinks"  # in the folder of a round's trials
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What a sink's process is asked to do."""

    store: str  # with a password, if it has one
    round: str
    sink: Sink
    patience_s: float = _PATIENCE_S  # the longest call to a tracker
    every_s: float = EVERY_S  # between looks at the store

    def to_json(self) -> str:
        """As the environment carries it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """What `to_json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "sink": Sink(**fields["sink"])})


@dataclass(frozen=True)
class Following:
    """What sinks follow: a round of a store, and where its trial folders stand."""

    store: str | Path  # with a password, if it has one
    record: RoundRecord
    root: Path


@dataclass
class SinkProcess:
    """The process of one sink."""

    sink: Sink
    process: subprocess.Popen[bytes]
    state: Path  # the file in which it keeps what it has written
    patience_s: float

    def close(self, wait: bool = True) -> Message | None:
        """End it after a last pass; what is left to write, if anything is."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        seen, since = self._state_stamp(), time.monotonic()
        while wait and self.process.poll() is None:
            time.sleep(LOOK_S)
            if (now := self._state_stamp()) != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > self.patience_s + _BEYOND_S:
                break
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        return None if code in (0, BUSY) else self._left(code)

    def _state_stamp(self) -> tuple[int, int]:
        try:
            status = os.stat(self.state)
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def _left(self, code: int) -> Message:
        left, error = 0, f"exit code {code}"
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            data = json.loads(self.state.read_text(encoding="utf-8"))
            left, error = int(data["left"]), str(data["error"]) or error
        facts = {"tracker": self.sink.tracker, "where": self.sink.where}
        return Message("sink.behind", {**facts, "left": left, "error": error})


def start(sink: Sink, following: Following) -> SinkProcess:
    """Start the process of a sink; it reads the store by itself."""
    waits = (_seconds(_PATIENCE, _PATIENCE_S), _seconds(_EVERY, EVERY_S))
    settings = Settings(str(following.store), following.record.name, sink, *waits)
    folder = inside(following.root, following.record.directory) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{sink.mark}.log", "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, SETTINGS: settings.to_json()},
            start_new_session=True,  # Ctrl-C is the supervisor's
        )
    return SinkProcess(sink, process, folder / f"{sink.mark}.json", settings.patience_s)


@contextlib.contextmanager
def sinks_open(
    sinks: tuple[Sink, ...], following: Following, message: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Keep the sinks of a round written for a block; yields what makes the end hurry.

    A sink that cannot be started costs no trial: the watcher shows what is left to write.
    """
    running: list[SinkProcess] = []
    hurried: list[bool] = []
    for sink in sinks:
        try:
            running.append(start(sink, following))
        except OSError as error:
            facts = {"tracker": sink.tracker, "where": sink.where, "error": str(error)}
            message(Message("sink.not_started", facts).text)
    try:
        yield lambda: hurried.append(True)
    finally:
        for process in running:
            behind = process.close(wait=not hurried)
            if behind is not None:
                facts = {**behind.facts, "round": following.record.name}
                message(Message(behind.code, facts).text)


def _seconds(name: str, usual: float) -> float:
    try:
        return max(0.01, float(os.environ.get(name, usual)))
    except ValueError:
        log.warning("%s is no number of seconds", name)
        return usual
