"""The tracking table: one line per round, with what a reader needs to find and repeat it.

The playbook's columns: name, link to the configuration, notes, number of trials, performance of the
best checkpoint, and the command that reproduces it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tunewright.actions import RunTrials
from tunewright.design.round import asked
from tunewright.messages import Message, Text
from tunewright.store.results import Results
from tunewright.store.rounds import ASKED
from tunewright.store.spool import ROUND_FILE
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Status, Trial


@dataclass(frozen=True)
class Tracked:
    """One line of the tracking table."""

    name: str
    goal: str | Message  # a message in a generated round
    change: Message | None  # what it changes about the round that it follows
    created: datetime
    definition: str  # the file that holds the round as it was run
    counts: Mapping[Status, int]
    trials: int
    objective: str
    best: Trial | None  # the best completed trial
    checkpoint: str  # the best trial's snapshot nearest to its best step, if still on the disk
    note: str | Message  # the newest
    command: str  # trains the best trial again, or continues the round
    campaign: str = ""  # the campaign that it belongs to
    purpose: str = ""  # `probe`, or the kind of step it is in its campaign

    @property
    def asks(self) -> Text:
        """The goal with the change, as readers see it."""
        return asked(self.goal, self.change)


def tracking_table(store: Store) -> list[Tracked]:
    """One line per round of a store, oldest first."""
    return [tracked(store, record) for record in store.rounds()]


def tracked(store: Store, record: RoundRecord) -> Tracked:
    """The line of one round."""
    results = store.results(record.name)
    top = results.top(1)
    best = top[0] if top else None
    definition = Path(results.root, record.directory, ROUND_FILE) if results.root else None
    return Tracked(
        name=record.name,
        goal=record.round.goal,
        change=record.round.change,
        created=record.created,
        definition=str(definition) if definition is not None and definition.exists() else "",
        counts=results.counts,
        trials=len(results.trials),
        objective=str(results.objective),
        best=best,
        checkpoint=_checkpoint(store, results, best),
        note=results.notes[-1] if results.notes else "",
        command=_command(record, results, best),
        campaign=record.campaign,
        purpose=record.purpose,
    )


def _command(record: RoundRecord, results: Results, best: Trial | None) -> str:
    """The command that trains the best trial again, or continues the round."""
    if results.imported or record.command == ASKED:
        return record.command if best is None else best.command
    return RunTrials(record.name).command if best is None else best.command


def _checkpoint(store: Store, results: Results, best: Trial | None) -> str:
    if best is None or best.best_step is None or not results.root:
        return ""
    folder = Path(results.root, best.folder)
    there = [s for s in store.snapshots(best.identity) if (folder / s.path).exists()]
    if not there:
        return ""
    # of snapshots equally near, the later one: it was written last and is the surest to be whole
    step = best.best_step
    nearest = min(there, key=lambda s: (abs(s.step - step), -s.step))
    return str(folder / nearest.path)
