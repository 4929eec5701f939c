"""What is done to a store as a whole: list its rounds, take notes, stop, back up, restore.

    tw.stores.rounds("tuning.db")
    tw.stores.note("tuning.db", "depth", "the second GPU was throttled")
    tw.stores.restore("tuning.db")

Every function takes the address of a store: a file name, or a postgresql:// address.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunewright.actions import Advise, StopRound
from tunewright.errors import Busy, Misuse
from tunewright.remedies import ListBackups
from tunewright.store import backup as backups_of, replay as rebuilding
from tunewright.store.address import parse
from tunewright.store.joined import joined as joined, with_earlier
from tunewright.store.leases import LeaseWatch
from tunewright.store.overview import Tracked, tracking_table
from tunewright.store.provenance import Provenance
from tunewright.store.read_round import Attempt, Snapshot
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial
from tunewright.store.user_requests import Note, Removed, Renamed

Address = str | os.PathLike[str]


@dataclass(frozen=True)
class History:
    """How a trial came about."""

    attempts: Sequence[Attempt]  # oldest first
    snapshots: Sequence[Snapshot]  # that its folder still has
    provenance: Provenance | None  # None: nothing was kept


@dataclass(frozen=True)
class StopRequest:
    """A request to stop a round or one of its trials."""

    round: str
    trial: int | None  # None: the whole round
    running: int  # trials of the round that ran when it was made


@dataclass(frozen=True)
class Restored:
    """A store that was put back."""

    store: Path  # the database file
    source: Path | None  # the backup; None: its trial folders
    rounds: int  # that it has now
    trials: int  # that it has now
    unreadable: tuple[Path, ...] = ()  # torn or altered files of trial folders, passed over


def rounds(store: Address) -> list[Tracked]:
    """The tracking table: one line per round, oldest first, with its best trial and newest note.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     [line.name for line in rounds(store)]
    ['rate']
    """
    with Store.open(store, create=False) as opened:
        return tracking_table(opened)


def history(store: Address, trial: Trial) -> History:
    """The attempts, snapshots and origin of a recorded trial.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        trial: a trial of `tw.load`.
    """
    with Store.open(store, create=False) as opened:
        return History(
            opened.attempts(trial.identity),
            opened.snapshots(trial.identity),
            opened.provenance(trial.identity),
        )


def note(store: Address, round: str, text: str) -> list[Note]:
    """Write a note about a round; every note of it, oldest first.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        round: the name of a round.
        text: the note.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     note(store, "rate", "a first look")[-1].text
    'a first look'
    """
    with Store.open(store, create=False) as opened:
        opened.note(round, text)
        return opened.notes(round)


def stop(store: Address, round: str, trial: int | None = None) -> StopRequest:
    """Ask whoever runs a round to stop it, or one of its trials: they save and stay pending.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        round: the name of a round.
        trial: the number of a trial; None: the whole round.
    """
    with Store.open(store, create=False) as opened:
        record = opened.round(round)
        if trial is not None:
            opened.results(round).trial(trial)  # refuses a number the round has not
        opened.ask_stop(record.id, trial)
        return StopRequest(record.name, trial, record.counts.get("running", 0))


def remove(store: Address, round: str) -> Removed:
    """Take a round out of every list, so that its name is free; `bring_back` undoes it.

    Refused while somebody runs it, and where something rests on it: a round that continues it, a
    launch, a campaign. A backup of a SQLite store is written first; trial folders stay.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        round: the name of a round.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     remove(store, "rate") is not None, rounds(store)
    (True, [])
    """
    with Store.open(store, create=False) as opened, _nobody_runs(opened, round):
        opened.back_up()
        return opened.remove(round)


def removed(store: Address) -> list[Removed]:
    """The rounds that were removed and can be brought back, the newest first.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     remove(store, "rate") is not None, len(removed(store))
    (True, 1)
    """
    with Store.open(store, create=False) as opened:
        return opened.list_removed()


def bring_back(store: Address, round: str) -> Removed:
    """Undo the newest removal of a round of this name; refused where the name is in use.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        round: the name of a round.
    """
    with Store.open(store, create=False) as opened:
        return opened.bring_back(round)


def rename(store: Address, old: str, new: str) -> Renamed:
    """Give a round another name, in the rounds that continue it and in its replicates too.

    Refused while somebody runs it. A backup of a SQLite store is written first.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        old: the name of a round.
        new: a name that is free.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     rename(store, "rate", "first") is not None, [line.name for line in rounds(store)]
    (True, ['first'])
    """
    with Store.open(store, create=False) as opened:
        if old == new:
            raise Misuse("rename.same_name", name=opened.round(old).name)
        with _nobody_runs(opened, old):
            opened.back_up()
            return opened.rename(old, new)


@contextlib.contextmanager
def _nobody_runs(store: Store, name: str) -> Iterator[None]:
    """Keep others from running a round for a block; Busy while somebody does."""
    record = store.round(name)
    worker = store.register(record.id, "supervisor", exclusive=True)
    try:
        store.reclaim(record.id, LeaseWatch())  # what dead owners held
        if store.round(name).counts.get("running"):
            raise Busy("remove.running", round=name, remedy=StopRound(name))
        yield
    finally:
        store.retire(worker)


def keep(store: Address, results: Results, command: str = "") -> Results:
    """Keep results of another tool as a round of this store, and read them back.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        results: what an importer returned.
        command: the training program to record with the round.
    """
    with Store.open(store) as opened:
        record = opened.keep(results, command)
        return with_earlier(opened, record.name)


def backup(store: Address) -> Path:
    """Write a backup of a SQLite store, checked, while it is in use; the newest three are kept.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     tw.open_round(rate, tw.minimize("error"), store).close()
    ...     backup(store).exists()
    True
    """
    path = _file(store)
    Store.open(path, create=False).close()  # refuses to copy a damaged store over good backups
    return backups_of.make(path)


def backups(store: Address) -> list[Path]:
    """The backups of a SQLite store, oldest first.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
    """
    return backups_of.backups(_file(store))


def restore(store: Address, backup: Path | None = None) -> Restored:
    """Put a backup (the newest one) in the store's place; what was there is kept beside it.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        backup: one of `backups(store)`; None: the newest.
    """
    path = _file(store)
    if backup is not None and not backup.is_file():
        raise Misuse("backup.no_such_backup", backup=backup, remedy=ListBackups())
    source = backups_of.restore(path, None if backup is None else backup.absolute())
    return _as_restored(path, source)


def rebuild(store: Address, folder: Path | None = None) -> Restored:
    """Make a store again from its trial folders; what was there is kept beside it.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        folder: the folder of trials; None: the one next to the store.
    """
    path = _file(store)
    rebuilt = rebuilding.rebuild(path, folder)
    return _as_restored(path, None, rebuilt.unreadable)


def _as_restored(path: Path, source: Path | None, unreadable: tuple[Path, ...] = ()) -> Restored:
    with Store.open(path, create=False) as opened:
        known = opened.rounds()
    trials = sum(sum(record.counts.values()) for record in known)
    return Restored(path, source, len(known), trials, unreadable)


def _file(store: Address) -> Path:
    address = parse(store)
    if address.path is None:
        raise Misuse("backup.postgresql", shown=address.masked, remedy=Advise("back_up_server"))
    return address.path
