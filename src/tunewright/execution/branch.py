"""Branches: trials of a new round that resume from a snapshot of an earlier trial.

Each branch looks like a trial that was stopped after it saved: its first attempt records the
snapshot and ends, and the next one resumes from it. So a branch that is interrupted resumes like
any other trial.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tunewright.design.round import Round
from tunewright.errors import StoreError
from tunewright.execution.handle import FOLDER as SNAPSHOTS
from tunewright.execution.prepare import ready
from tunewright.execution.run import begin_round
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.progress.watcher import Silent
from tunewright.search.halton import Halton
from tunewright.snapshot import Snapshot
from tunewright.store.outcome import Outcome
from tunewright.store.rounds import inside
from tunewright.store.store import Store
from tunewright.store.trial import Claim


def branch(round: Round, workload: Workload, source: Snapshot, origin: Message) -> None:
    """Begin a round whose trials all resume from one snapshot; `origin` names where it is from.

    Trials that have theirs, or have ended, are left alone: called again it changes nothing.
    """
    search = Halton()
    with Store.open(workload.store) as store:
        record = begin_round(store, ready(round, workload, search), workload, search, Silent())
        root = store.root_of(record)
        pending = [t for t in store.results(record.name).trials if t.status == "pending"]
        if all(store.snapshots(trial.identity) for trial in pending):
            return
        worker = store.register(record.id, "session", exclusive=False)
        try:
            for claim in store.claim(record.id, worker, len(pending)):
                if not store.snapshots(claim.trial):
                    _plant(store, claim, inside(root, claim.folder), source)
                store.end(claim, Outcome("stopped", origin))
        finally:
            store.retire(worker)


def _plant(store: Store, claim: Claim, folder: Path, source: Snapshot) -> None:
    """Copy the snapshot into the trial's folder, whole or not at all, and record it."""
    place = folder / SNAPSHOTS / source.path.name
    unfinished = place.with_name(f".writing-{claim.attempt}-{source.path.name}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not place.exists():
            shutil.copytree(source.path, unfinished)
            unfinished.rename(place)
    except OSError as error:
        raise StoreError("file.not_written", path=place, reason=error.strerror or error) from error
    store.add_snapshot(claim, source.step, f"{SNAPSHOTS}/{source.path.name}", source.sha256)
