"""Rounds in the store: begin one with its trials pending, or continue the same one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.round import Round, differences
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import Damaged, NotFound, RoundChanged
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.remedies import FirstRun, ListRounds
from tunewright.store import plain_json
from tunewright.store.claims import (
    Suggestions,
    add_missing,
    first_positions,
    positions,
    positions_on_disk,
    set_made,
)
from tunewright.store.database import Database
from tunewright.store.plain_json import (
    LONGEST_TEXT,
    meaning_data,
    meaning_from,
    objective_data,
    objective_from,
    storable,
)
from tunewright.store.schema import campaign as campaign_table, round_table, trial
from tunewright.store.trial import Status, split_seed

# how the names of removed rounds begin: with a sign that no name may have
REMOVED = "\x1fremoved\x1f"
ASK_AND_TELL = "ask and tell"  # the command of a round without a training program of ours
_ROUNDS = select(round_table, campaign_table.c.name.label("of_campaign")).outerjoin(
    campaign_table, campaign_table.c.id == round_table.c.campaign
)
_PRESENT = ~round_table.c.name.startswith(REMOVED)
Adopt = Callable[[Connection, int], None]


@dataclass(frozen=True)
class RoundRecord:
    """A round as the store has it."""

    id: int
    name: str
    round: Round
    objective: Objective
    meaning: Meaning
    search: str
    created: datetime
    directory: str  # of its trial folders, relative to the folder of trials
    folder: str = ""  # the folder of trials, when it is not beside the store
    command: str = ""  # how it was begun
    campaign: str = ""  # the campaign that it belongs to, by its name
    purpose: str = ""  # the kind of step it is in that campaign
    counts: Mapping[Status, int] = field(default_factory=dict)  # repeats left out
    continued: bool = False  # it was in the store before this call
    made: int | None = None  # positions of each study that have a row; None: every trial has one


def begin(
    database: Database,
    round: Round,
    objective: Objective,
    meaning: Meaning,
    search: str,
    suggestions: Suggestions | None,
    command: str,
    folder: str,
    adopt: Adopt | None = None,
    *,
    ahead: bool = False,
) -> RoundRecord:
    """Record a round with its trials pending, or continue the same one; in one transaction.

    `adopt` is called in that transaction with the key of the round. Every trial gets its row now,
    unless it can be suggested later: by an adaptive search, or by one that is `ahead`.
    """
    count = round.trials_per_study
    with database.reading() as connection:
        before = _find(connection, round.name)
        if before is not None:
            _refuse_changes(before, round, objective, search)
            count = max(count, before.round.trials_per_study)  # all that were declared are kept
        rows_now = count
        if ahead or suggestions is None:
            rows_now = _positions_needed(database, connection, before, round, count, folder)
    # computed before the write lock is taken, since a search may take its time
    points = {s.number: suggestions(s, rows_now) if suggestions else None for s in round.studies}
    with database.writing() as connection:
        database.alone(connection)
        record_now = _find(connection, round.name)
        if record_now is None:
            record_now = create_round(
                connection,
                round,
                objective=objective,
                meaning=meaning,
                search=search,
                command=command,
                folder=folder,
            )
            continued = False
        else:
            if before is None:  # another process was quicker
                _refuse_changes(record_now, round, objective, search)
            count = max(count, record_now.round.trials_per_study)
            continued = True
            _amend(connection, record_now, round, meaning, count, folder or record_now.folder)
        if adopt is not None:
            adopt(connection, record_now.id)
        add_missing(
            connection,
            record_now.id,
            directory=record_now.directory,
            round=round,
            search=search,
            count=rows_now,
            points=points,
        )
        # workers may have made more rows since this round was looked at
        rows = record_now.made
        if rows is None and before is not None and before.made is not None:
            rows = record_now.round.trials_per_study
        set_made(connection, record_now.id, max(rows_now, rows or 0), count)
        record = _find(connection, round.name)
    assert record is not None
    return replace(record, continued=continued)


def _positions_needed(
    database: Database,
    connection: Connection,
    before: RoundRecord | None,
    round: Round,
    count: int,
    folder: str,
) -> int:
    """How many positions of each study need a row when the round begins, or continues."""
    if before is None:
        return min(count, positions(round))
    root = database.root_of(folder or before.folder)
    place = None if root is None else inside(root, before.directory)
    known = first_positions(connection, before.id, before.round, count, before.made)
    return max(known, positions_on_disk(place, before.round) if known < count else 0)


def find(database: Database, name: str) -> RoundRecord:
    """The round of this name."""
    with database.reading() as connection:
        record = _find(connection, name)
        if record is not None:
            return record
        present = select(round_table.c.name).where(_PRESENT)
        names = list(connection.execute(present).scalars())
    raise NotFound(
        "round.not_found",
        name=name,
        near=nearest(name, names),
        store=database.address.masked,
        known=sorted(names)[:12],
        remedy=ListRounds() if names else FirstRun(),
    )


def every(database: Database) -> list[RoundRecord]:
    """All rounds, oldest first."""
    with database.reading() as connection:
        rows = connection.execute(_ROUNDS.where(_PRESENT).order_by(round_table.c.id)).all()
        return [_record(connection, row) for row in rows]


def objective_of(database: Database, trial_id: int) -> Objective:
    """The objective of the round that a trial belongs to."""
    chosen = (
        select(round_table.c.objective)
        .join(trial, trial.c.round == round_table.c.id)
        .where(trial.c.id == trial_id)
    )
    with database.reading() as connection:
        objective = connection.execute(chosen).scalar_one()
    return objective_from(plain_json.loads(objective, f"the round of trial {trial_id}"))


def keys_of(database: Database, round_id: int, numbers: Sequence[int]) -> dict[int, int]:
    """The keys of a round's trials by number; numbers that are not there are left out."""
    wanted = set(numbers)
    chosen = select(trial.c.number, trial.c.id).where(
        trial.c.round == round_id, trial.c.number.is_not(None)
    )
    if len(wanted) <= 500:  # within what both databases take in one query
        chosen = chosen.where(trial.c.number.in_(sorted(wanted)))
    with database.reading() as connection:
        return {row.number: row.id for row in connection.execute(chosen) if row.number in wanted}


def set_purpose(connection: Connection, key: int, purpose: str) -> None:
    """What a round of no campaign is for: the answer of a probe."""
    this_round = (round_table.c.id == key) & round_table.c.campaign.is_(None)
    connection.execute(update(round_table).where(this_round).values(purpose=purpose))


def _find(connection: Connection, name: str) -> RoundRecord | None:
    row = connection.execute(_ROUNDS.where(round_table.c.name == name)).first()
    return None if row is None else _record(connection, row)


def _record(connection: Connection, row: Any) -> RoundRecord:
    counted = (
        select(trial.c.status, func.count())
        .where(trial.c.round == row.id, trial.c.number.is_not(None))
        .group_by(trial.c.status)
    )
    where = f"round {storable(str(row.name), 200)!r} of the store"
    with plain_json.as_written(where):
        round = from_data(plain_json.loads(row.definition, where))
        objective = objective_from(plain_json.loads(row.objective, where))
        meaning = meaning_from(plain_json.loads(row.meaning, where))
        created = datetime.fromtimestamp(row.created, UTC)
        kept = (row.search, row.directory, row.folder, row.command, row.purpose)
        if not all(isinstance(text, str) for text in kept):
            raise TypeError("a number in place of text")
        rows = row.made
        if rows is not None and not (type(rows) is int and 0 <= rows <= round.trials_per_study):
            raise ValueError("not a number of rows")
    counts: dict[Status, int] = {status: count for status, count in connection.execute(counted)}
    if row.made is not None:
        waiting = (round.trials_per_study - row.made) * len(round.studies)
        counts["pending"] = counts.get("pending", 0) + waiting
    return RoundRecord(
        id=row.id,
        name=row.name,
        round=round,
        objective=objective,
        meaning=meaning,
        search=row.search,
        created=created,
        directory=row.directory,
        folder=row.folder,
        command=row.command,
        campaign=row.of_campaign or "",
        purpose=row.purpose,
        counts=counts,
        made=row.made,
    )


def _refuse_changes(before: RoundRecord, round: Round, objective: Objective, search: str) -> None:
    changes = differences(before.round, round)
    if objective != before.objective:
        judged = {"before": str(before.objective), "after": str(objective)}
        changes.append(Message("changed.objective", judged))
    if search != before.search:
        searched = {"what": "search", "before": before.search, "after": search}
        changes.append(Message("changed.value", searched))
    if changes:
        facts = [change.to_data() for change in changes]
        raise RoundChanged("round.changed", round=round.name, changes=facts)


def create_round(
    connection: Connection,
    round: Round,
    objective: Objective,
    meaning: Meaning,
    search: str,
    command: str,
    folder: str,
    directory: str | None = None,
) -> RoundRecord:
    """Insert a round without trials; `directory` is that of an older store."""
    new_row = insert(round_table).values(
        name=round.name,
        definition=plain_json.dumps(as_data(round)),
        objective=plain_json.dumps(objective_data(objective)),
        meaning=plain_json.dumps(meaning_data(meaning)),
        search=search,
        split_seed=split_seed(round.seed),
        # a token, so that folders left by another store are never taken for this round's
        directory=directory or f"r-{secrets.token_hex(8)}",
        folder=folder,
        command=storable(command, LONGEST_TEXT),
        created=time.time(),
    )
    (key,) = connection.execute(new_row).inserted_primary_key or (None,)
    assert key is not None
    if directory is None:
        connection.execute(
            update(round_table)
            .where(round_table.c.id == key)
            .values(directory=f"r{key}-{secrets.token_hex(3)}")
        )
    record = _find(connection, round.name)
    assert record is not None
    return record


def _amend(
    connection: Connection,
    before: RoundRecord,
    round: Round,
    meaning: Meaning,
    count: int,
    folder: str,
) -> None:
    """Store what may change: a raised number of trials, the goal, meanings, a moved folder."""
    definition = as_data(round) | {"trials_per_study": count}
    connection.execute(
        update(round_table)
        .where(round_table.c.id == before.id)
        .values(
            definition=plain_json.dumps(definition),
            meaning=plain_json.dumps(meaning_data(meaning)),
            folder=folder,
        )
    )


def inside(root: Path, folder: str) -> Path:
    """The place of a trial's or a round's folder; Damaged if it would lie outside the root.

    >>> inside(Path("trials"), "r1-9f2c1a/t000012").as_posix()
    'trials/r1-9f2c1a/t000012'
    """
    parts = PurePath(folder).parts
    if not parts or PurePath(folder).is_absolute() or ".." in parts or "\0" in folder:
        raise Damaged("store.folder_outside", folder=folder, root=root)
    return root / folder
