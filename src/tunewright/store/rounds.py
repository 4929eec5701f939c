"""Rounds in the record: beginning one with all its trials pending, or continuing the same one."""

from __future__ import annotations

import difflib
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Protocol

from sqlalchemy import Connection, bindparam, func, insert, select, update

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_changes import differences
from tunewright.design.round_data import as_data, from_data
from tunewright.design.study import Study
from tunewright.errors import Damaged, NotFound, RoundChanged
from tunewright.messages import Message
from tunewright.remedies import FirstRun, ListRounds
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.definition import (
    meaning_data,
    meaning_from,
    objective_data,
    objective_from,
)
from tunewright.store.schema import campaign as campaign_table, round_table, trial
from tunewright.store.seed import split_seed, trial_seed
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import Status

# how the names of removed rounds begin: with a sign that no name may have
REMOVED = "\x1fremoved\x1f"
ASKED = "ask and tell"  # the command of a round without a training program of ours


class Suggested(Protocol):
    """What a search suggests, as far as the record is concerned."""

    @property
    def configuration(self) -> Mapping[str, Value]:
        """The values to try."""
        ...

    @property
    def unit(self) -> Mapping[str, float]:
        """Their position in the unit cube."""
        ...


_ROUNDS = select(round_table, campaign_table.c.name.label("of_campaign")).outerjoin(
    campaign_table, campaign_table.c.id == round_table.c.campaign
)
_PRESENT = ~round_table.c.name.startswith(REMOVED)
Adopt = Callable[[Connection, int], None]
Suggestions = Callable[[Study, int], Sequence[Suggested]]  # a study's first `count` configurations


@dataclass(frozen=True)
class RoundRecord:
    """A round as the record has it."""

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
    continued: bool = False  # it was in the record before this call


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
) -> RoundRecord:
    """Record a round with all its trials pending, or continue the same one; in one transaction.

    `adopt` is called in that transaction with the key of the round.
    """
    with database.reading() as connection:
        before = _find(connection, round.name)
    count = round.trials_per_study
    if before is not None:
        _refuse_changes(before, round, objective, search)
        count = max(count, before.round.trials_per_study)  # fewer trials than before: all are kept
    # computed before the write lock is taken, since a search may take its time
    points = {s.number: suggestions(s, count) if suggestions else None for s in round.studies}
    with database.writing() as connection:
        database.alone(connection)
        found = _find(connection, round.name)
        if found is None:
            found = create_round(connection, round, objective, meaning, search, command, folder)
            continued = False
        else:
            if before is None:  # another process was quicker
                _refuse_changes(found, round, objective, search)
            count = max(count, found.round.trials_per_study)
            continued = True
            _amend(connection, found, round, meaning, count, folder or found.folder)
        if adopt is not None:
            adopt(connection, found.id)
        _add_missing(connection, found, round, search, count, points)
        record = _find(connection, round.name)
    assert record is not None
    return replace(record, continued=continued)


def find(database: Database, name: str) -> RoundRecord:
    """The round of this name."""
    with database.reading() as connection:
        record = _find(connection, name)
        if record is not None:
            return record
        present = select(round_table.c.name).where(_PRESENT)
        names = list(connection.execute(present).scalars())
    near = difflib.get_close_matches(name, names, n=1)
    raise NotFound(
        "round.not_found",
        name=name,
        near=near[0] if near else None,
        store=database.address.shown,
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
        found = connection.execute(chosen).scalar_one()
    return objective_from(plain_json.loads(found, f"the round of trial {trial_id}"))


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
    own = (round_table.c.id == key) & round_table.c.campaign.is_(None)
    connection.execute(update(round_table).where(own).values(purpose=purpose))


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
        counts={status: count for status, count in connection.execute(counted)},
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
    made = insert(round_table).values(
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
    (key,) = connection.execute(made).inserted_primary_key or (None,)
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
    found: RoundRecord,
    round: Round,
    meaning: Meaning,
    count: int,
    folder: str,
) -> None:
    """Store what may change: a raised number of trials, the goal, meanings, a moved folder."""
    definition = as_data(round) | {"trials_per_study": count}
    connection.execute(
        update(round_table)
        .where(round_table.c.id == found.id)
        .values(
            definition=plain_json.dumps(definition),
            meaning=plain_json.dumps(meaning_data(meaning)),
            folder=folder,
        )
    )


def _add_missing(
    connection: Connection,
    found: RoundRecord,
    round: Round,
    search: str,
    count: int,
    points: Mapping[int, Sequence[Suggested] | None],
) -> None:
    """Add the trials that are not there yet, and fill those whose suggestion is known now."""
    columns = (
        trial.c.id,
        trial.c.study,
        trial.c.position,
        trial.c.number,
        trial.c.configuration,
        trial.c.status,
    )
    rows = connection.execute(
        select(*columns).where(trial.c.round == found.id, trial.c.number.is_not(None))
    ).all()
    there = {(row.study, row.position): row for row in rows if row.position is not None}
    taken = {row.number for row in rows}
    fresh: list[dict[str, Any]] = []
    filled: list[dict[str, Any]] = []
    for position in range(count):
        for s in round.studies:
            suggested = points[s.number]
            if suggested is not None and position >= len(suggested):
                continue  # the search has no more for this study
            point = None if suggested is None else suggested[position]
            row = there.get((s.number, position))
            if row is None:
                fresh.append(_row(found, round, s, position, search, point))
            elif point is not None and row.configuration is None and row.status == "pending":
                filled.append({"key": row.id, **_written(point)})
            elif point is not None and row.configuration is not None:
                _compare(round.name, row, point)
    # numbers of trials added by hand are passed over; without any, this is i * S + s
    number = 0
    for values in fresh:
        number = max(number, values["position"] * len(round.studies) + values["study"])
        while number in taken:
            number += 1
        taken.add(number)
        values["number"] = number
        values["folder"] = trial_folder(found.directory, number)
    if fresh:
        connection.execute(insert(trial), fresh)
    if filled:
        fill = update(trial).where(trial.c.id == bindparam("key"))
        values = {"configuration": bindparam("configuration"), "unit": bindparam("unit")}
        connection.execute(fill.values(values), filled)


def trial_folder(directory: str, number: int, repeat: int | None = None) -> str:
    """A trial's folder, made of ids alone: names never become paths.

    >>> trial_folder("r1-9f2c1a", 12), trial_folder("r1-9f2c1a", 12, repeat=3)
    ('r1-9f2c1a/t000012', 'r1-9f2c1a/t000012.repeat3')
    """
    own = f"{directory}/t{number:06d}"
    return own if repeat is None else f"{own}.repeat{repeat}"


def inside(root: Path, folder: str) -> Path:
    """The place of a trial's or a round's folder; Damaged if it would lie outside the root.

    >>> inside(Path("trials"), "r1-9f2c1a/t000012").as_posix()
    'trials/r1-9f2c1a/t000012'
    """
    parts = PurePath(folder).parts
    if not parts or PurePath(folder).is_absolute() or ".." in parts or "\0" in folder:
        raise Damaged("store.folder_outside", folder=folder, root=root)
    return root / folder


def _row(
    found: RoundRecord, round: Round, own: Study, position: int, search: str, point: Any
) -> dict[str, Any]:
    return {
        "round": found.id,
        "study": own.number,
        "position": position,
        "seed": trial_seed(round.seed, position),
        "search": search,
        "status": "pending",
        "configuration": None,
        "unit": None,
        **({} if point is None else _written(point)),
    }


def _written(point: Suggested) -> dict[str, str]:
    return {
        "configuration": plain_json.dumps(dict(point.configuration)),
        "unit": plain_json.dumps(dict(point.unit)),
    }


def _compare(name: str, row: Any, point: Suggested) -> None:
    """Refuse a search that suggests something else than it did for the same trial."""
    before = plain_json.loads(row.configuration, f"trial {row.number} of the store")
    now = dict(point.configuration)
    if before.keys() != now.keys() or not all(_alike(before[key], now[key]) for key in now):
        raise RoundChanged(
            "round.search_changed", name=name, before=before, number=row.number, now=now
        )


def _alike(a: Value, b: Value) -> bool:
    """Equal up to the last digits, in which the mathematics libraries of two machines differ."""
    if isinstance(a, float) and isinstance(b, float | int) and not isinstance(b, bool):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-300)
    return a == b and isinstance(a, bool) == isinstance(b, bool)
