"""Rebuild a lost store from the files in its trial folders, with what was concluded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, select, update

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.store import backup, journal, migrations, plain_json, version_1
from tunewright.store.address import parse
from tunewright.store.claims import ADDED
from tunewright.store.database import Database
from tunewright.store.leases import add_retired
from tunewright.store.open_store import MARK, default_root
from tunewright.store.replay import NEW, Fence, add_row, replay
from tunewright.store.rounds import create_round
from tunewright.store.schema import campaign, round_table
from tunewright.store.spool import (
    REMOVED_FILE,
    ROUND_FILE,
    TRIAL_FILE,
    SpooledRound,
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
        raise StoreError("rebuild.no_folder")
    folder = Path(root) if root is not None else default_root(Path(str(address.path)))
    every = sorted(folder.glob(f"r*/{ROUND_FILE}"))
    files = [file for file in every if not file.with_name(REMOVED_FILE).exists()]
    if not files:
        raise NotFound("rebuild.no_rounds", folder=folder)
    if address.path is not None:
        backup.set_aside(address.path)
    database = Database(address)
    try:
        migrations.create(database, _identity(folder))
        with database.writing() as connection:
            if connection.execute(select(round_table.c.id)).first() is not None:
                raise StoreError("rebuild.store_not_empty", shown=address.shown)
            places = {folder, default_root(address.path) if address.path is not None else folder}
            told, torn = _conclusions(sorted(places))
            made = _fill(database, connection, files, "" if root is None else str(folder))
            journal.restore(connection, told)
            _give_to_campaigns(connection, made.belongs)
            return Rebuilt(
                made.rounds, made.trials, made.ended, (*made.unreadable, *torn), len(told)
            )
    finally:
        database.close()


def _identity(folder: Path) -> str | None:
    try:
        found = plain_json.read_object(folder / MARK).get("store")
    except (OSError, Damaged):
        return None
    return found if isinstance(found, str) else None


@dataclass(frozen=True)
class _Filled:
    """What the trial folders gave."""

    rounds: int
    trials: int
    ended: int
    unreadable: tuple[Path, ...]
    belongs: Mapping[int, SpooledRound]  # by the round's key


def _fill(database: Database, connection: Connection, files: list[Path], folder: str) -> _Filled:
    unreadable: list[Path] = []
    trials = ended = 0
    belongs: dict[int, SpooledRound] = {}
    fence = Fence(NEW, add_retired(connection, "rebuilt"))
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
        belongs[record.id] = found
        keys: dict[int, int] = {}  # number -> key, for the repeats, whose folders sort after
        for path in sorted(file.parent.glob(f"t*/{TRIAL_FILE}")):
            try:
                own = read_trial(path)
            except (Damaged, OSError):
                unreadable.append(path)
                continue
            search = ADDED if own.index is None and own.number is not None else found.search
            moved = own.folder != f"{file.parent.name}/{path.parent.name}"
            key = None if moved else add_row(connection, record.id, own, search, keys)
            if key is None:
                unreadable.append(path)
                continue
            if own.number is not None:
                keys[own.number] = key
            ends = results_in(path.parent)
            replay(database, connection, replace(own, trial=key), ends, fence)
            trials += 1
            ended += any(each.outcome.becomes in ENDED for each in ends)
    return _Filled(len(belongs), trials, ended, tuple(unreadable), belongs)


def _conclusions(places: list[Path]) -> tuple[list[version_1.Conclusion], tuple[Path, ...]]:
    """What was concluded: that about no round may stand in the store's own folder."""
    read = [journal.read(place) for place in places]
    known: dict[tuple[float, str], version_1.Conclusion] = {}
    for one in (one for own, _ in read for one in own):
        before = known.get((one.written, one.kind))
        if before is None or before.version < one.version:  # each once, by its newest file
            known[one.written, one.kind] = one
    return [known[key] for key in sorted(known)], tuple(p for _, paths in read for p in paths)


def _give_to_campaigns(connection: Connection, rounds: Mapping[int, SpooledRound]) -> None:
    """Make rounds their campaigns' again; files of version 1 say so by their names."""
    campaigns = {row.name: row.id for row in connection.execute(select(campaign))}
    for key, found in rounds.items():
        if found.campaign in campaigns:
            own = update(round_table).where(round_table.c.id == key)
            values = {"campaign": campaigns[found.campaign], "purpose": found.purpose}
            connection.execute(own.values(values))
    old = [key for key, found in rounds.items() if found.campaign is None]
    version_1.adopt_rounds(connection, only=old)
