"""Recovery: results that reached the trial folder but not the store are replayed into it, once.

A result counts if it is of the trial's newest attempt and nobody alive runs that attempt. Replaying
it twice changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from tunewright.errors import Damaged
from tunewright.store.claim import Claim
from tunewright.store.database import Database
from tunewright.store.replay import UNOWNED, Fence, replay
from tunewright.store.rounds import inside
from tunewright.store.schema import trial
from tunewright.store.spool import TRIAL_FILE, read_trial, results_in
from tunewright.store.trial import Status


@dataclass(frozen=True)
class Imported:
    """A result replayed from a trial folder."""

    trial: int
    number: int | None
    attempt: int
    status: Status


def import_spool(
    database: Database, round_id: int, root: Path, only: Collection[int] | None = None
) -> list[Imported]:
    """Replay the results of a round's trial folders; with `only`, of these trials."""
    chosen = select(
        trial.c.id,
        trial.c.number,
        trial.c.folder,
        trial.c.attempt,
        trial.c.configuration,
        trial.c.study,
        trial.c.position,
        trial.c.seed,
    ).where(trial.c.round == round_id, UNOWNED)
    with database.reading() as connection:
        rows = connection.execute(chosen).all()
    taken: list[Imported] = []
    fence = Fence(UNOWNED, at=time.time())
    for row in rows:
        if only is not None and row.id not in only:
            continue
        folder = inside(root, row.folder)
        begun = _begun(folder, row)
        unknown = row.configuration is None
        if begun is None and unknown:
            continue  # nobody knows what gave these results
        keys = {row.id} if begun is None else {row.id, begun.trial}
        # later attempts than the store knows: it was restored from a backup since
        ends = [e for e in results_in(folder) if e.trial in keys and e.attempt >= row.attempt]
        claim = _claim(row) if begun is None else replace(begun, trial=row.id)
        if ends or claim.attempt > row.attempt:
            with database.writing() as connection:
                written = replay(database, connection, claim, ends, fence, fill=unknown)
            status = [(each.attempt, each.outcome.becomes) for each in written]
            taken += [Imported(row.id, row.number, *each) for each in status]
    return taken


def _begun(folder: Path, row: Any) -> Claim | None:
    """What was tried here last, if its file can be read and is about this trial.

    Its key may be another one: a row that a restored store lacked is made again under a new key.
    """
    try:
        begun = read_trial(folder / TRIAL_FILE)
    except (Damaged, OSError):
        return None
    own = (row.number, row.study, row.position, row.seed)
    numbered = begun.number is not None
    alike = numbered and own == (begun.number, begun.study, begun.index, begun.seed)
    return begun if alike or begun.trial == row.id else None


def _claim(row: Any) -> Claim:
    """The newest claim of a trial whose file cannot be read, as its row has it."""
    return Claim(
        trial=row.id,
        attempt=row.attempt,
        number=row.number,
        study=row.study,
        index=row.position,
        configuration=None,  # the row has it
        unit={},
        seed=row.seed,
        folder=row.folder,
    )
