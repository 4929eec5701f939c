"""The replay of a trial's history: recovery, a rebuilt store and imported trials become rows.

Recovery replays what reached a trial folder and not the store, `rebuild` replays whole folders into
a new store, and an import replays what another tool has done. Replayed twice, it counts once: a
result counts if it is of the trial's newest attempt and no living worker runs that attempt.

An imported round has no trial folders, so a store rebuilt from folders lacks it: import it again.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, bindparam, insert, or_, select, true, update

from tunewright.errors import Damaged, NotFound, RoundChanged, StoreError
from tunewright.store import backup, fenced_writes, journal, migrations, plain_json, version_1
from tunewright.store.address import parse
from tunewright.store.claims import ADDED, trial_folder
from tunewright.store.curves import packed
from tunewright.store.database import Database
from tunewright.store.fenced_writes import ENDING
from tunewright.store.leases import add_retired
from tunewright.store.open_store import MARK, default_root
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.plain_json import storable
from tunewright.store.rounds import create_round, inside
from tunewright.store.schema import attempt, campaign, note, round_table, trial, worker
from tunewright.store.spool import (
    REMOVED_FILE,
    ROUND_FILE,
    TRIAL_FILE,
    SpooledRound,
    read_round,
    read_trial,
    results_in,
    trial_and_repeat,
)
from tunewright.store.trial import ENDED, NOBODY, Claim, Status, Trial, claim_of
from tunewright.store.user_requests import as_column

if TYPE_CHECKING:
    from tunewright.store.results import Results
_retired = select(worker.c.id).where(worker.c.retired.is_not(None))
UNOWNED: ColumnElement[bool] = or_(
    trial.c.status == "pending", (trial.c.status == "running") & trial.c.worker.in_(_retired)
)

# rows that this very transaction has made: nobody else can see them
NEW: ColumnElement[bool] = true()
_end_unknown = (
    select(attempt.c.id)
    .where(
        attempt.c.trial == bindparam("own_trial"),
        attempt.c.n == bindparam("own_attempt"),
        attempt.c.outcome.in_(("", "lost")),
    )
    .exists()
)
_OPEN_ATTEMPT = insert(attempt)
_this_trial = update(trial).where(trial.c.id == bindparam("own_trial"))
_ATTEMPT = _this_trial.values(attempt=bindparam("newest"))
_FILLED = _ATTEMPT.values(configuration=bindparam("configuration"), unit=bindparam("unit"))
_ELSEWHERE = "elsewhere"  # the host of another tool's trials
_SHARED = {each.name for each in fields(Outcome)} & {each.name for each in fields(Trial)}
_KEPT = "kept"  # the host of trials that a program of the user's made, which can train more


@dataclass(frozen=True)
class Fence:
    """Which rows a replay may change, and to whom it gives the attempts that it adds."""

    holds: ColumnElement[bool]
    worker: int = NOBODY
    at: float | None = None  # when the attempts ended; None: not known

    @cached_property
    def newest(self) -> Any:
        """The query of a trial's newest attempt, for the update that follows."""
        this_trial = trial.c.id == bindparam("own_trial")
        return select(trial.c.attempt).where(this_trial, self.holds).with_for_update()

    @cached_property
    def ending(self) -> Any:
        """The update of a trial whose newest attempt ended in a way that the store lacks."""
        newest = update(trial).where(
            trial.c.id == bindparam("own_trial"),
            trial.c.attempt == bindparam("own_attempt"),
            self.holds,
            _end_unknown,
        )
        return newest.values(ENDING)


def add_row(
    connection: Connection,
    round_id: int,
    claim: Claim,
    search: str,
    parents: Mapping[int, int],
    *,
    command: str = "",
) -> int | None:
    """Insert the row of a claimed trial, with no attempt yet; its key. `parents` are by number.

    None: it is a repeat of a trial that is not there.
    """
    number, repeat = trial_and_repeat(PurePosixPath(claim.folder).name)
    if repeat is not None and number not in parents:
        return None
    values = {
        "round": round_id,
        "study": claim.study,
        "number": number if repeat is None else None,
        "parent": None if repeat is None else parents[number],
        "repeat": repeat,
        "position": claim.index,
        "seed": claim.seed,
        "search": search,
        "folder": claim.folder,
        "command": storable(command),
        "status": "pending",
        **_columns_tried(claim),
    }
    (key,) = connection.execute(insert(trial), values).inserted_primary_key or (0,)
    return int(key)


def replay(
    database: Database,
    connection: Connection,
    claim: Claim,
    ends: Sequence[Ended],
    fence: Fence,
    *,
    fill: bool = False,
) -> list[Ended]:
    """Write the attempts at a trial up to the one of `claim`, and how they ended; what was new.

    An attempt that began and whose end nobody knows is `lost`: its number is not given out again.
    With `fill` the trial gets the configuration of the claim as well. Nothing is written where the
    fence does not hold, nor over an end that the store has.
    """
    written: list[Ended] = []
    for each in ends:
        ended = replace(each, trial=claim.trial)
        _open_attempts(connection, claim, ended.attempt, fence, fill)
        if fenced_writes.write_outcome(database, connection, fence.ending, ended, at=fence.at):
            written.append(ended)
    if not ends or claim.attempt > ends[-1].attempt:
        _open_attempts(connection, claim, claim.attempt, fence, fill)
    return written


def _open_attempts(
    connection: Connection, claim: Claim, newest: int, fence: Fence, fill: bool
) -> None:
    """Add the attempts that the store lacks, and a configuration that was not flushed."""
    known = connection.execute(fence.newest, {"own_trial": claim.trial}).scalar()
    if known is None or (newest <= known and not fill):
        return
    lost = [
        {"trial": claim.trial, "n": n, "worker": fence.worker, "outcome": "lost"}
        for n in range(known + 1, newest + 1)
    ]
    if lost:
        connection.execute(_OPEN_ATTEMPT, lost)
    tried = _columns_tried(claim) if fill else {}
    change = _FILLED if fill else _ATTEMPT
    attempts = {"own_trial": claim.trial, "newest": max(known, newest)}
    connection.execute(change, {**attempts, **tried})


def _columns_tried(claim: Claim) -> dict[str, str]:
    """The configuration of a claim and its point in the unit cube, as columns."""
    return {
        "configuration": plain_json.dumps(dict(claim.configuration or {})),
        "unit": plain_json.dumps(dict(claim.unit)),
    }


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
        claimed_last = _newest_claim(folder, row)
        unknown = row.configuration is None
        if claimed_last is None and unknown:
            continue  # nobody knows what gave these results
        keys = {row.id} if claimed_last is None else {row.id, claimed_last.trial}
        # later attempts than the store knows: it was restored from a backup since
        ends = [e for e in results_in(folder) if e.trial in keys and e.attempt >= row.attempt]
        claim = _claim(row) if claimed_last is None else replace(claimed_last, trial=row.id)
        if ends or claim.attempt > row.attempt:
            with database.writing() as connection:
                written = replay(database, connection, claim, ends, fence, fill=unknown)
            status = [(each.attempt, each.outcome.becomes) for each in written]
            taken += [Imported(row.id, row.number, *each) for each in status]
    return taken


def _newest_claim(folder: Path, row: Any) -> Claim | None:
    """What was tried here last, if its file can be read and is about this trial.

    Its key may be another one: a row that a restored store lacked is made again under a new key.
    """
    try:
        claim = read_trial(folder / TRIAL_FILE)
    except (Damaged, OSError):
        return None
    identity = (row.number, row.study, row.position, row.seed)
    numbered = claim.number is not None
    alike = numbered and identity == (claim.number, claim.study, claim.index, claim.seed)
    return claim if alike or claim.trial == row.id else None


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


def is_imported(connection: Connection, of: ColumnElement[bool]) -> bool:
    """Whether every attempt at these trials (`trial.c.round == 3`) was made by another tool."""
    hosts = (
        select(worker.c.host)
        .join(attempt, attempt.c.worker == worker.c.id)
        .join(trial, attempt.c.trial == trial.c.id)
        .where(of)
        .distinct()
    )
    return connection.execute(hosts).scalars().all() == [_ELSEWHERE]


def keep_imported(database: Database, results: Results, command: str) -> str:
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
        keeper = add_retired(connection, _ELSEWHERE if results.imported else _KEPT)
        into = _Into(database, connection, record.id, record.directory, Fence(NEW, keeper))
        keys: dict[int, int] = {}
        for trial in trials:
            keys[trial.number or 0] = into.write(trial, keys)
        repeated = Counter[int]()
        for trial in repeats:
            if trial.parent in keys:
                repeated[trial.parent] += 1
                into.write(trial, keys, repeated[trial.parent])
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

    def write(self, trial: Trial, keys: Mapping[int, int], repeat: int | None = None) -> int:
        """Insert a trial with one attempt and its curves; its key."""
        number = (trial.number if repeat is None else trial.parent) or 0
        claim = replace(claim_of(trial), folder=trial_folder(self.directory, number, repeat))
        key = (
            add_row(self.connection, self.round, claim, trial.search, keys, command=trial.command)
            or 0
        )
        ended = Ended(key, 1, _outcome_of(trial))
        own_claim = replace(claim, trial=key)
        replay(self.database, self.connection, own_claim, [ended], self.fence)
        return key


def _outcome_of(trial: Trial) -> Outcome:
    """The outcome of a trial that has ended, as if it had one attempt."""
    assert trial.ended
    shared: dict[str, Any] = {name: getattr(trial, name) for name in _SHARED}
    return Outcome(**shared, first=0, batches=(packed(trial.curves),) if len(trial.curves) else ())


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
                raise StoreError("rebuild.store_not_empty", shown=address.masked)
            places = {folder, default_root(address.path) if address.path is not None else folder}
            conclusions, torn = _conclusions(sorted(places))
            filled = _fill(database, connection, files, "" if root is None else str(folder))
            journal.restore(connection, conclusions)
            _give_to_campaigns(connection, filled.belongs)
            return Rebuilt(
                filled.rounds,
                filled.trials,
                filled.ended,
                (*filled.unreadable, *torn),
                len(conclusions),
            )
    finally:
        database.close()


def _identity(folder: Path) -> str | None:
    try:
        identity = plain_json.read_object(folder / MARK).get("store")
    except (OSError, Damaged):
        return None
    return identity if isinstance(identity, str) else None


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
            spooled = read_round(file)
        except (Damaged, OSError):
            unreadable.append(file)
            continue
        record = create_round(
            connection,
            spooled.round,
            spooled.objective,
            spooled.meaning,
            spooled.search,
            spooled.command,
            folder=folder,
            directory=file.parent.name,
        )
        if spooled.created:
            when = update(round_table).where(round_table.c.id == record.id)
            connection.execute(when.values(created=spooled.created))
        belongs[record.id] = spooled
        keys: dict[int, int] = {}  # number -> key, for the repeats, whose folders sort after
        for path in sorted(file.parent.glob(f"t*/{TRIAL_FILE}")):
            try:
                claim = read_trial(path)
            except (Damaged, OSError):
                unreadable.append(path)
                continue
            search = ADDED if claim.index is None and claim.number is not None else spooled.search
            moved = claim.folder != f"{file.parent.name}/{path.parent.name}"
            key = None if moved else add_row(connection, record.id, claim, search, keys)
            if key is None:
                unreadable.append(path)
                continue
            if claim.number is not None:
                keys[claim.number] = key
            ends = results_in(path.parent)
            replay(database, connection, replace(claim, trial=key), ends, fence)
            trials += 1
            ended += any(each.outcome.becomes in ENDED for each in ends)
    return _Filled(len(belongs), trials, ended, tuple(unreadable), belongs)


def _conclusions(places: list[Path]) -> tuple[list[version_1.Conclusion], tuple[Path, ...]]:
    """What was concluded: that about no round may stand in the store's own folder."""
    read = [journal.read(place) for place in places]
    known: dict[tuple[float, str], version_1.Conclusion] = {}
    for conclusion in (conclusion for conclusions, _ in read for conclusion in conclusions):
        before = known.get((conclusion.written, conclusion.kind))
        if before is None or before.version < conclusion.version:  # each once, by its newest file
            known[conclusion.written, conclusion.kind] = conclusion
    return [known[key] for key in sorted(known)], tuple(p for _, paths in read for p in paths)


def _give_to_campaigns(connection: Connection, rounds: Mapping[int, SpooledRound]) -> None:
    """Make rounds their campaigns' again; files of version 1 say so by their names."""
    campaigns = {row.name: row.id for row in connection.execute(select(campaign))}
    for key, spooled in rounds.items():
        if spooled.campaign in campaigns:
            this_round = update(round_table).where(round_table.c.id == key)
            values = {"campaign": campaigns[spooled.campaign], "purpose": spooled.purpose}
            connection.execute(this_round.values(values))
    old = [key for key, spooled in rounds.items() if spooled.campaign is None]
    version_1.adopt_rounds(connection, only=old)
