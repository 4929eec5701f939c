"""The verb `sync`: write a recorded round to trackers, or catch up what they lack."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from tunewright.design.workload_file import Sink, sinks_from
from tunewright.errors import DesignError
from tunewright.execution.sink_processes import BUSY, Following, start
from tunewright.sinks._queue import Written
from tunewright.store.store import Store


@dataclass(frozen=True)
class Synced:
    """What a tracker has of a round after `sync`."""

    tracker: str
    where: str
    written: int  # trials, repeats included, that it has as the store has them now
    left: int  # trials that it lacks
    error: str  # what the tracker raised last, in its own words; empty: nothing
    busy: bool = False  # another process writes this sink now

    @property
    def whole(self) -> bool:
        """Whether the tracker has everything."""
        return not self.left and not self.error and not self.busy


def sync(
    store: str | os.PathLike[str],
    round: str,
    sinks: Iterable[str | Sink] | str | Sink,
) -> tuple[Synced, ...]:
    """Write a round of a store to trackers; one answer per sink.

    Trials that a tracker has already are left as they are, so that calling it again writes nothing.
    A tracker that raises or hangs is reported in the answer and never raised here. The verdicts of
    the checklist become part of each run's summary.

        tunewright.sinks.sync("tuning.db", "depth", ["mlflow", "tensorboard:runs"])
    """
    named = sinks_from(sinks)
    if not named:
        raise DesignError("sink.no_sink")
    placed = [sink.with_address() for sink in named]
    for sink in placed:
        sink.need()
    with Store.open(store, create=False) as opened:
        record = opened.round(round)
        root = opened.root_of(record)
    following = Following(str(store), record, root)
    running = [start(sink, following) for sink in placed]
    answers = []
    for sink, process in zip(placed, running, strict=True):
        behind = process.close()
        written = Written.read(process.state)
        error = "" if behind is None else str(behind.facts["error"])
        busy = process.process.returncode == BUSY
        left = written.left
        answers.append(Synced(sink.tracker, sink.where, len(written.done), left, error, busy))
    return tuple(answers)
