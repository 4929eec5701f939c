"""The queue of a sink: which trials of a round the tracker lacks, from the store and a small file.

The store is the queue. A file per sink in the round's folder of trials notes which trials were
written as they are now, so that a pass touches only what changed. The file may be lost: `put` is
then repeated, and changes nothing. Only the holder of the lock beside it writes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunewright.design.workload_file import Sink
from tunewright.errors import TunewrightError
from tunewright.execution.sink_processes import FOLDER
from tunewright.sinks._trial_run import Summary, Tracker, marks, trial_run, verdicts_of
from tunewright.store.database import make_folder, opener
from tunewright.store.rounds import inside
from tunewright.store.store import RoundRecord, Store

_FAILURES = 3  # puts in a row that fail: the tracker is down, and the pass ends
_LONGEST_ERROR = 500  # characters kept of what a tracker raises


@dataclass
class Written:
    """What a sink has written of a round, as its file has it."""

    path: Path
    done: dict[str, str] = field(default_factory=dict)  # a trial's mark when it was written
    left: int = 0  # trials that the tracker lacks, after the last pass
    error: str = ""  # what the tracker raised last, in its own words

    @classmethod
    def read(cls, path: Path) -> Written:
        """The file; empty where it is missing, torn or another program's."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            done = {str(key): str(mark) for key, mark in data["done"].items()}
            return cls(path, done, int(data["left"]), str(data["error"]))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return cls(path)

    def save(self) -> None:
        """Replace the file; a disk that is full leaves the one before."""
        data = {"done": self.done, "left": self.left, "error": self.error}
        beside = self.path.with_suffix(".new")
        with contextlib.suppress(OSError):
            make_folder(self.path.parent)
            with open(beside, "w", encoding="utf-8", opener=opener) as file:
                json.dump(data, file)
            os.replace(beside, self.path)


def state_file(store: Store, record: RoundRecord, sink: Sink) -> Path:
    """Where a sink's file of a round stands."""
    root = store.root_of(record)
    return inside(root, record.directory) / FOLDER / f"{sink.mark}.json"


@dataclass
class Queue:
    """One round on its way to one tracker."""

    store: Store
    name: str  # of the round
    sink: Sink
    tracker: Callable[[], Tracker]  # opens it; called when there is something to write
    progressed: Callable[[], None] = lambda: None  # called after every put, for a watchdog
    _open: Tracker | None = None

    @property
    def record(self) -> RoundRecord:
        """The round as the store has it now."""
        return self.store.round(self.name)

    def work(self, *, last: bool = False) -> Written:
        """Write what the tracker lacks; with `last`, the verdicts of the checks too.

        What a tracker raises is kept in the answer and never raised here.
        """
        record = self.record
        written = Written.read(state_file(self.store, record, self.sink))
        verdicts: Summary = {}
        due = self._due(record, written, "")
        if last:
            verdicts = self._verdicts()
            due = self._due(record, written, _digest(verdicts))
        written.left, written.error, failed = len(due), "", 0
        for key, mark in due.items():
            try:
                self._send(record, key, verdicts)
            except Exception as error:  # whatever a tracker raises costs no trial
                written.error = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
                self._open, failed = None, failed + 1
                if failed == _FAILURES:
                    break
            else:
                written.done[str(key)] = mark
                written.left, failed = written.left - 1, 0
                written.save()
            self.progressed()
        written.save()
        return written

    def close(self) -> str:
        """Close the tracker; what it raises, in its own words."""
        try:
            if self._open is not None:
                self._open.close()
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
        finally:
            self._open = None
        return ""

    def _due(self, record: RoundRecord, written: Written, digest: str) -> dict[int, str]:
        """The trials to write, with their marks; without a digest, verdicts stay as they are."""
        due: dict[int, str] = {}
        for key, mark in marks(self.store, record).items():
            before, _, verdicts = written.done.get(str(key), "").partition("|")
            ended = not mark.startswith(("running", "pending"))
            if before != mark or (digest and ended and verdicts != digest):
                due[key] = f"{mark}|{digest if ended else ''}"
        return due

    def _send(self, record: RoundRecord, key: int, verdicts: Summary) -> None:
        run = trial_run(self.store, record, key, verdicts)
        if self._open is None:
            self._open = self.tracker()
        self._open.put(run)

    def _verdicts(self) -> Summary:
        """The verdicts of the checks; none where the round cannot be judged at all."""
        try:
            return verdicts_of(self.store, self.name)
        except TunewrightError:
            return {}


def _digest(verdicts: Mapping[str, Any]) -> str:
    text = json.dumps(verdicts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextlib.contextmanager
def alone(store: Store, record: RoundRecord, sink: Sink) -> Iterator[bool]:
    """Hold the lock of a sink of a round for a block; False where another process has it.

    Processes of one machine, or with a shared folder of trials, meet at a file; those of several
    machines at the PostgreSQL server.
    """
    path = state_file(store, record, sink).with_suffix(".lock")
    make_folder(path.parent)
    with open(path, "w", opener=opener) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        digits = hashlib.sha256(f"{record.id} {sink.mark}".encode()).hexdigest()[:15]
        with store.server_lock(int(digits, 16)) as held:
            yield held
