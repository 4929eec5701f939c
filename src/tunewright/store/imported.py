"""Keeping results that were made elsewhere: rows with their final status and curves, at once.

Such a round has no trial folders, so a store rebuilt from its folders lacks it: import it again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select

from tunewright.errors import NotFound, RoundChanged
from tunewright.store import plain_json, summary
from tunewright.store.curves import packed
from tunewright.store.database import Database
from tunewright.store.leases import add_retired
from tunewright.store.notes import as_column
from tunewright.store.reason import encode
from tunewright.store.rounds import create_round
from tunewright.store.schema import attempt, curve, note, round_table, trial as table, worker
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import Trial
from tunewright.store.trial_rows import trial_folder

if TYPE_CHECKING:
    from tunewright.store.results import Results


ELSEWHERE = "elsewhere"  # the host of another tool's trials
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
        writing = _Writing(record.id, record.directory, keeper)
        numbers = writing.write(connection, trials, {})
        writing.write(connection, repeats, numbers)
        for text in results.notes:
            values = {"round": record.id, "written": time.time()}
            connection.execute(insert(note).values(values | {"text": as_column(text)}))
    return name


class _Writing:
    """What all rows of one round share."""

    def __init__(self, round_id: int, directory: str, keeper: int) -> None:
        self.round = round_id
        self.directory = directory
        self.keeper = keeper

    def write(
        self, connection: Connection, trials: Sequence[Trial], parents: Mapping[int, int]
    ) -> dict[int, int]:
        """Insert trials with one attempt and its curves each; the keys of numbered ones."""
        keys: dict[int, int] = {}
        repeated: dict[int, int] = {}
        attempts: list[dict[str, Any]] = []
        curves: list[dict[str, Any]] = []
        for own in trials:
            row = self._row(own)
            if own.number is None:
                if own.parent is None or own.parent not in parents:
                    continue
                repeat = repeated[own.parent] = repeated.get(own.parent, 0) + 1
                folder = trial_folder(self.directory, own.parent, repeat)
                row |= {"parent": parents[own.parent], "repeat": repeat, "folder": folder}
            (key,) = connection.execute(insert(table).values(row)).inserted_primary_key or (0,)
            if own.number is not None:
                keys[own.number] = key
            attempts.append(
                {
                    "trial": key,
                    "n": 1,
                    "worker": self.keeper,
                    "outcome": own.status,
                    "cause": encode(own.reason),
                    "seconds": own.seconds,
                }
            )
            if len(own.curves):
                points = packed(own.curves)
                place = {"trial": key, "attempt": 1, "sequence": 0}
                curves.append({**place, "points": points})
        if attempts:
            connection.execute(insert(attempt), attempts)
        if curves:
            connection.execute(insert(curve), curves)
        for row in curves:
            if summary.is_long([row["points"]], 0):
                summary.write(connection, row["trial"])
        return keys

    def _row(self, own: Trial) -> dict[str, Any]:
        return {
            "round": self.round,
            "study": own.study,
            "number": own.number,
            "position": own.index,
            "configuration": plain_json.dumps(dict(own.configuration)),
            "unit": plain_json.dumps(dict(own.unit)),
            "seed": own.seed,
            "search": own.search,
            "folder": trial_folder(self.directory, own.number or 0),
            "status": own.status,
            "reason": encode(own.reason),
            "detail": storable(own.detail, LONGEST_TEXT),
            "command": storable(own.command),
            "attempt": 1,
            "seconds": own.seconds,
            "peak_memory_mb": own.peak_memory_mb,
        }
