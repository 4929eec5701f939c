"""Reading a round back: a few queries, columns and not objects, curves unpacked when looked at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, get_args, overload

from sqlalchemy import bindparam, select

from tunewright.actions import TrainAgain
from tunewright.errors import Damaged
from tunewright.messages import Message
from tunewright.store import plain_json, provenance
from tunewright.store.claims import trial_folder
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.database import Database, when
from tunewright.store.outcome import decode
from tunewright.store.rounds import ASK_AND_TELL, RoundRecord
from tunewright.store.schema import attempt, curve, round_table, snapshot, trial
from tunewright.store.spool import trial_and_repeat
from tunewright.store.trial import Claim, Status, Trial, trial_seed

_TRIALS = select(trial).where(trial.c.round == bindparam("of_round")).order_by(trial.c.id)
_CLAIMED = _TRIALS.where(trial.c.status != "pending")
_TRIAL = select(trial).where(trial.c.id == bindparam("of_trial"))
# attempts that began without logging anything are there too: they supersede earlier points
POINTS = (
    select(attempt.c.trial, attempt.c.n, attempt.c.start_step, curve.c.points)
    .outerjoin(curve, (curve.c.trial == attempt.c.trial) & (curve.c.attempt == attempt.c.n))
    .where(attempt.c.began.is_not(None) | curve.c.points.is_not(None))
    .order_by(attempt.c.trial, attempt.c.n, curve.c.sequence)
)
_BATCHES = POINTS.join(trial, trial.c.id == attempt.c.trial).where(
    trial.c.round == bindparam("of_round")
)
_BATCHES_OF_TRIAL = POINTS.where(attempt.c.trial == bindparam("of_trial"))
NOTHING = pack({})
_KINDS = [  # what each column of a trial may hold: its name, the types, and whether nothing
    (c.name, (int, float) if c.type.python_type is float else c.type.python_type, c.nullable)
    for c in trial.columns
]
# columns that a trial has under the same name, as they are
_OTHER = ("configuration", "unit", "reason", "command", "parent")
_SAME = [
    each.name for each in fields(Trial) if each.name in trial.columns and each.name not in _OTHER
]
_STATUSES = frozenset(get_args(Status))


def read_trials(
    database: Database, record: RoundRecord, ours: bool = True
) -> tuple[list[Trial], list[Trial]]:
    """The round's rows by number, unjudged, and its repeats; `ours`: not another tool's."""
    return _read(database, _TRIALS, record, ours)


def read_claimed(database: Database, record: RoundRecord) -> tuple[list[Trial], list[Trial]]:
    """The trials and repeats that are not pending: no declared trial is looked at."""
    return _read(database, _CLAIMED, record, True)


@dataclass(frozen=True)
class Waiting(Sequence[Trial]):
    """The declared trials of a round that have no row yet, by number; made when looked at."""

    record: RoundRecord
    numbers: range

    @classmethod
    def of(cls, record: RoundRecord) -> Waiting:
        """All of a round's; none where every trial has a row."""
        studies = len(record.round.studies)
        end = record.round.trials_per_study * studies
        return cls(record, range(end if record.made is None else record.made * studies, end))

    def __len__(self) -> int:
        """How many wait."""
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Trial: ...
    @overload
    def __getitem__(self, at: slice) -> Waiting: ...
    def __getitem__(self, at: int | slice) -> Trial | Waiting:
        """The one at this place, or those of a slice."""
        if isinstance(at, slice):
            return Waiting(self.record, self.numbers[at])
        return self.pending_trial(self.numbers[at])

    def pending_trial(self, number: int) -> Trial:
        """The trial of this number."""
        record = self.record
        position, study = divmod(number, len(record.round.studies))
        return Trial(
            number=number,
            study=study,
            index=position,
            configuration={},
            unit={},
            status="pending",
            seed=trial_seed(record.round.seed, position),
            command=""
            if record.command == ASK_AND_TELL
            else TrainAgain(record.name, number).command,
            identity=-1 - number,  # no row has such a key
            folder=trial_folder(record.directory, number),
            search=record.search,
        )


def _read(
    database: Database, chosen: Any, record: RoundRecord, ours: bool
) -> tuple[list[Trial], list[Trial]]:
    with database.reading() as connection:
        rows = connection.execute(chosen, {"of_round": record.id}).all()
        batches = _batches(connection.execute(_BATCHES, {"of_round": record.id}))
        used = provenance.of_round(connection, record.id)
    numbers = {row.id: row.number for row in rows}
    trials: list[Trial] = []
    repeats: list[Trial] = []
    for row in rows:
        record_of = _trial(row, numbers, batches.get(row.id, []), record, ours)
        record_of = replace(record_of, applied=used[row.id]) if row.id in used else record_of
        (trials if row.number is not None else repeats).append(record_of)
    trials.sort(key=lambda t: t.number or 0)
    repeats.sort(key=lambda t: (t.parent or 0, t.identity))
    return trials, repeats


def read_trial(database: Database, key: int, ours: bool = True) -> Trial | None:
    """One trial or repeat by its key, unjudged; None: there is none."""
    with database.reading() as connection:
        row = connection.execute(_TRIAL, {"of_trial": key}).first()
        if row is None:
            return None
        batches = _batches(connection.execute(_BATCHES_OF_TRIAL, {"of_trial": key}))
        parent = select(trial.c.number).where(trial.c.id == row.parent)
        numbers = {row.parent: connection.execute(parent).scalar()} if row.parent else {}
        round_row = select(round_table.c.name, round_table.c.command).where(
            round_table.c.id == row.round
        )
        record = connection.execute(round_row).one()
        used = provenance.values_applied(connection, key)
    return replace(_trial(row, numbers, batches.get(key, []), record, ours), applied=used)


@dataclass(frozen=True)
class Attempt:
    """One attempt at a trial."""

    n: int  # from 1
    place: str  # host and pid of the training
    start_step: int  # updates done before it
    began: datetime | None
    ended: datetime | None
    outcome: str  # completed, infeasible, failed, died, stopped, lost; empty while it runs
    cause: Message | None
    seconds: float


@dataclass(frozen=True)
class Snapshot:
    """A snapshot a trial saved; older ones may have been dropped from the disk since."""

    attempt: int
    step: int
    path: str  # relative to the trial folder
    sha256: str
    saved: datetime


def keys_of_finished(database: Database, round_id: int) -> list[int]:
    """The identities of a round's numbered trials that completed or were pruned, in order."""
    wanted = (trial.c.round == round_id) & trial.c.number.is_not(None)
    ended = trial.c.status.in_(("completed", "pruned"))
    chosen = select(trial.c.id).where(wanted & ended).order_by(trial.c.number)
    with database.reading() as connection:
        return list(connection.execute(chosen).scalars())


def attempts(database: Database, key: int) -> list[Attempt]:
    """The attempts at a trial, in order."""
    of_trial = select(attempt).where(attempt.c.trial == key).order_by(attempt.c.n)
    with database.reading() as connection, plain_json.as_written(f"an attempt at trial {key}"):
        return [
            Attempt(
                n=row.n,
                place=row.place,
                start_step=row.start_step,
                began=_when(row.began),
                ended=_when(row.ended),
                outcome=row.outcome,
                cause=decode(row.cause),
                seconds=row.seconds,
            )
            for row in connection.execute(of_trial)
        ]


def snapshots(database: Database, key: int) -> list[Snapshot]:
    """The snapshots of a trial, oldest first."""
    of_trial = select(snapshot).where(snapshot.c.trial == key).order_by(snapshot.c.id)
    with database.reading() as connection, plain_json.as_written(f"a snapshot of trial {key}"):
        return [
            Snapshot(row.attempt, row.step, row.path, row.sha256, when(row.saved))
            for row in connection.execute(of_trial)
        ]


def _when(seconds: float | None) -> datetime | None:
    return None if seconds is None else when(seconds)


def batches(database: Database, claim: Claim) -> list[bytes]:
    """The batches of an attempt that are stored, in order."""
    of_attempt = (curve.c.trial == claim.trial) & (curve.c.attempt == claim.attempt)
    with database.reading() as connection:
        kept = select(curve.c.points).where(of_attempt).order_by(curve.c.sequence)
        return list(connection.execute(kept).scalars())


def _batches(rows: Iterable[Any]) -> dict[int, list[Batch]]:
    """The batches of each trial, by its key."""
    batches: dict[int, list[Batch]] = {}
    for key, n, start_step, points in rows:
        packed = NOTHING if points is None else points
        batches.setdefault(key, []).append(Batch(n, start_step, packed))
    return batches


def _trial(
    row: Any,
    numbers: Mapping[int, int | None],
    batches: list[Batch],
    record: Any,  # its round, or a row with the name and the command of it
    ours: bool,  # not another tool's
) -> Trial:
    parent = numbers.get(row.parent)
    where = trial_name(record.name, row.number, parent)
    check_row(row, where)
    same: dict[str, Any] = {name: getattr(row, name) for name in _SAME}
    return Trial(
        **same,
        index=row.position,
        configuration=_settings(row.configuration, where),
        unit=_settings(row.unit, where),
        reason=decode(row.reason),
        curves=Curves(batches, where),
        attempts=row.attempt,
        command=_again(row, parent, record) if ours else row.command or record.command,
        started=row.command if ours else "",
        parent=parent,
        identity=row.id,
    )


def _again(row: Any, parent: int | None, record: Any) -> str:
    """The command that trains a trial anew; none where no training program is known of it."""
    if record.command == ASK_AND_TELL:
        return ""
    if row.number is not None:
        return TrainAgain(record.name, row.number).command
    return "" if parent is None else TrainAgain(record.name, parent, row.repeat).command


def again_of(round: str, trial: Trial, anyway: bool = False) -> TrainAgain:
    """The action that trains a trial or a repeat of a round anew."""
    if trial.number is not None:
        return TrainAgain(round, trial.number, anyway=anyway)
    repeat = trial_and_repeat(PurePosixPath(trial.folder).name)[1]
    return TrainAgain(round, trial.parent or 0, repeat, anyway)


def trial_name(round: str, number: int | None, parent: int | None) -> str:
    """A trial or a repeat, as messages call it.

    >>> trial_name("depth", 3, None), trial_name("depth", None, 3)
    ('trial 3 of depth', 'a repeat of trial 3 of depth')
    """
    return (
        f"trial {number} of {round}"
        if number is not None
        else f"a repeat of trial {parent} of {round}"
    )


def check_row(row: Any, where: str) -> None:
    """Refuse a row of `trial` with a field that this program cannot have written.

    SQLite keeps any kind of value in any column, so that one changed byte may make text a number.
    """
    for (name, kinds, nullable), value in zip(_KINDS, row, strict=True):
        right = nullable if value is None else isinstance(value, kinds)
        if not right or (isinstance(value, float) and not math.isfinite(value)):
            raise Damaged("store.column_altered", place=where, name=name)
    if row.status not in _STATUSES:
        raise Damaged("store.bad_status", place=where, status=row.status)


def _settings(text: str | None, where: str) -> dict[str, Any]:
    """A configuration or a point of the unit cube; empty where there is none yet."""
    if not text:
        return {}
    settings = plain_json.loads(text, where)
    if not isinstance(settings, dict):
        raise Damaged("store.configuration_altered", place=where)
    return settings
