"""Making a lost store again, out of the records in its trial folders, with what was concluded."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.store import backup, journal as conclusions, migrations, plain_json
from tunewright.store.address import parse
from tunewright.store.claims import ADDED
from tunewright.store.database import Database
from tunewright.store.leases import add_retired
from tunewright.store.open_store import MARK, default_root
from tunewright.store.reason import encode
from tunewright.store.recovery import keep_batches
from tunewright.store.rounds import create_round
from tunewright.store.schema import attempt, round_table, trial
from tunewright.store.spool import (
    ROUND_FILE,
    TRIAL_FILE,
    SpooledResult,
    SpooledTrial,
    read_round,
    read_trial,
    results_in,
)
from tunewright.store.trial import ENDED


@dataclass(frozen=True)
class Rebuilt:
    """What could be made again."""

    rounds: int
    trials: int  # whose configuration is known; the others come back when the round is run again
    ended: int  # of these, with their result
    unreadable: tuple[Path, ...]  # torn or altered files, which were passed over
    conclusions: int = 0  # launches, campaigns, evaluations, probes and notes


def rebuild(store: str | os.PathLike[str], root: Path | None = None) -> Rebuilt:
    """Make a store again from its trial folders; an old file in its place is kept beside it."""
    address = parse(store)
    if address.path is None and root is None:
        raise StoreError("rebuilding a PostgreSQL store needs the folder of its trials.")
    folder = Path(root) if root is not None else default_root(Path(str(address.path)))
    files = sorted(folder.glob(f"r*/{ROUND_FILE}"))
    if not files:
        raise NotFound(f"{folder} holds no rounds to rebuild a store from.")
    if address.path is not None:
        backup.set_aside(address.path)
    database = Database(address)
    try:
        migrations.create(database, _identity(folder))
        with database.writing() as connection:
            if connection.execute(select(round_table.c.id)).first() is not None:
                raise StoreError(f"{address.shown} holds rounds already; nothing was rebuilt.")
            made = _fill(database, connection, files, "" if root is None else str(folder))
            places = {folder, default_root(address.path) if address.path is not None else folder}
            return _with_conclusions(database, connection, made, sorted(places))
    finally:
        database.close()


def _identity(folder: Path) -> str | None:
    try:
        found = plain_json.read_object(folder / MARK).get("store")
    except (OSError, Damaged):
        return None
    return found if isinstance(found, str) else None


def _fill(database: Database, connection: Connection, files: list[Path], folder: str) -> Rebuilt:
    unreadable: list[Path] = []
    rounds = trials = ended = 0
    keeper = add_retired(connection, "rebuilt")
    for file in files:
        try:
            found = read_round(file)
        except (Damaged, OSError):
            unreadable.append(file)
            continue
        record = create_round(
            connection,
            found.round,
            found.objective,
            found.meaning,
            found.search,
            found.command,
            folder=folder,
            directory=file.parent.name,
        )
        if found.created:
            when = update(round_table).where(round_table.c.id == record.id)
            connection.execute(when.values(created=found.created))
        rounds += 1
        keys: dict[int, int] = {}  # number -> key, for the repeats, whose folders sort after
        for path in sorted(file.parent.glob(f"t*/{TRIAL_FILE}")):
            try:
                own = read_trial(path)
            except (Damaged, OSError):
                unreadable.append(path)
                continue
            results = results_in(path.parent)
            row = _row(database, record.id, path.parent, found.search, own, results)
            if own.repeat is not None:
                if own.number not in keys:
                    unreadable.append(path)
                    continue
                row |= {"parent": keys[own.number], "number": None, "repeat": own.repeat}
            (key,) = connection.execute(insert(trial).values(row)).inserted_primary_key or (0,)
            if own.repeat is None:
                keys[own.number] = key
            _add_attempts(database, connection, key, keeper, own, results)
            trials += 1
            ended += row["status"] in ENDED
    return Rebuilt(rounds, trials, ended, tuple(unreadable))


def _with_conclusions(
    database: Database, connection: Connection, made: Rebuilt, places: list[Path]
) -> Rebuilt:
    """Put back what was concluded: those about no round may stand in the store's own folder."""
    read = [conclusions.read(place) for place in places]
    known = {(one.written, one.kind): one for own, _ in read for one in own}  # each once
    found = [known[key] for key in sorted(known)]
    torn = tuple(path for _, paths in read for path in paths)
    rounds = connection.execute(select(round_table.c.directory, round_table.c.id))
    trials = connection.execute(select(trial.c.folder, trial.c.id))
    conclusions.restore(
        database,
        connection,
        found,
        {row.directory: row.id for row in rounds},
        {row.folder: row.id for row in trials},
    )
    return replace(made, unreadable=(*made.unreadable, *torn), conclusions=len(found))


def _row(
    database: Database,
    round_id: int,
    folder: Path,
    search: str,
    own: SpooledTrial,
    results: list[SpooledResult],
) -> dict[str, Any]:
    ended = [result for result in results if result.status in ENDED]
    last = ended[-1] if ended else None
    return {
        "round": round_id,
        "study": own.study,
        "number": own.number,
        "position": own.index,
        "configuration": plain_json.dumps(dict(own.configuration)),
        "unit": plain_json.dumps(dict(own.unit)),
        "seed": own.seed,
        "search": ADDED if own.index is None and own.repeat is None else search,
        "folder": f"{folder.parent.name}/{folder.name}",
        "status": last.status if last else "pending",
        "reason": encode(last.reason) if last else "",
        "detail": last.detail if last else "",
        "attempt": max([own.attempt, *(result.attempt for result in results)]),
        "deaths": sum(result.died for result in results if result.status == "pending"),
        "seconds": sum(result.seconds for result in results),
        "peak_memory_mb": last.peak_memory_mb if last else None,
        "revision": database.revision(),
    }


def _add_attempts(
    database: Database,
    connection: Connection,
    key: int,
    keeper: int,
    own: SpooledTrial,
    results: list[SpooledResult],
) -> None:
    now = database.revision()
    known = {result.attempt: result for result in results}
    for n in range(1, max([own.attempt, *known]) + 1):
        result = known.get(n)
        values = {"trial": key, "n": n, "worker": keeper, "outcome": "lost", "revision": now}
        if result is not None:
            values |= {
                "outcome": result.status if result.status in ENDED else "stopped",
                "cause": encode(result.reason),
                "seconds": result.seconds,
                "start_step": result.start_step,
            }
        connection.execute(insert(attempt).values(values))
        if result is not None:
            keep_batches(database, connection, replace(result, trial=key), now)
