"""Keep results that were made elsewhere: a replay of trials that have ended, at once.

Such a round has no trial folders, so a store rebuilt from its folders lacks it: import it again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select

from tunewright.errors import NotFound, RoundChanged
from tunewright.store.claim import claim_of
from tunewright.store.curves import packed
from tunewright.store.database import Database
from tunewright.store.leases import add_retired
from tunewright.store.notes import as_column
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.replay import NEW, Fence, add_row, replay
from tunewright.store.rounds import create_round
from tunewright.store.schema import attempt, note, round_table, trial as table, worker
from tunewright.store.trial import Trial
from tunewright.store.trial_rows import trial_folder

if TYPE_CHECKING:
    from tunewright.store.results import Results


ELSEWHERE = "elsewhere"  # the host of another tool's trials
_SHARED = {each.name for each in fields(Outcome)} & {each.name for each in fields(Trial)}
KEPT = "kept"  # the host of trials that a program of the user's made, which can train more


def is_imported(connection: Connection, round_id: int) -> bool:
    """Whether every attempt of a round was made by another tool."""
    hosts = (
        select(worker.c.host)
        .join(attempt, attempt.c.worker == worker.c.id)
        .join(table, attempt.c.trial == table.c.id)
        .where(table.c.round == round_id)
        .distinct()
    )
    return connection.execute(hosts).scalars().all() == [ELSEWHERE]


def is_imported_trial(connection: Connection, key: int) -> bool:
    """Whether another tool made this trial."""
    hosts = (
        select(worker.c.host)
        .join(attempt, attempt.c.worker == worker.c.id)
        .where(attempt.c.trial == key)
        .distinct()
    )
    return connection.execute(hosts).scalars().all() == [ELSEWHERE]


def keep(database: Database, results: Results, command: str) -> str:
    """Write the ended trials of results into a store that has no round of this name; its name."""
    name = results.round.name
    trials = [t for t in results.recorded if t.ended and t.number is not None]
    repeats = [t for t in results.recorded_repeats if t.ended]
    if not trials:
        raise NotFound("imported.no_ended_trial", name=name)
    with database.writing() as connection:
        database.alone(connection)
        if connection.execute(select(round_table.c.id).where(round_table.c.name == name)).first():
            raise RoundChanged("imported.name_taken", name=name)
        record = create_round(
            connection,
            results.round,
            results.objective,
            results.meaning,
            results.search,
            command,
            folder="",
        )
        keeper = add_retired(connection, ELSEWHERE if results.imported else KEPT)
        into = _Into(database, connection, record.id, record.directory, Fence(NEW, keeper))
        keys: dict[int, int] = {}
        for own in trials:
            keys[own.number or 0] = into.write(own, keys)
        repeated = Counter[int]()
        for own in repeats:
            if own.parent in keys:
                repeated[own.parent] += 1
                into.write(own, keys, repeated[own.parent])
        for text in results.notes:
            values = {"round": record.id, "written": time.time()}
            connection.execute(insert(note).values(values | {"text": as_column(text)}))
    return name


@dataclass(frozen=True)
class _Into:
    """The round that trials are written into."""

    database: Database
    connection: Connection
    round: int
    directory: str
    fence: Fence

    def write(self, own: Trial, keys: Mapping[int, int], repeat: int | None = None) -> int:
        """Insert a trial with one attempt and its curves; its key."""
        number = (own.number if repeat is None else own.parent) or 0
        claim = replace(claim_of(own), folder=trial_folder(self.directory, number, repeat))
        key = (
            add_row(self.connection, self.round, claim, own.search, keys, command=own.command) or 0
        )
        ended = Ended(key, 1, outcome_of(own))
        own_claim = replace(claim, trial=key)
        replay(self.database, self.connection, own_claim, [ended], self.fence)
        return key


def outcome_of(trial: Trial) -> Outcome:
    """The outcome of a trial that has ended, as if it had one attempt."""
    assert trial.ended
    shared: dict[str, Any] = {name: getattr(trial, name) for name in _SHARED}
    return Outcome(**shared, first=0, batches=(packed(trial.curves),) if len(trial.curves) else ())
