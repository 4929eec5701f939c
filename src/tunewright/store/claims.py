"""Claims: how a trial comes to an owner, exactly once under each attempt, and gets its row.

A claim moves pending to running and opens the next attempt, in one transaction, lowest numbers
first. Where too few rows are pending, those of the next declared trials are made first.

A round may declare a hundred thousand trials and run ten. `AHEAD` rows are made at a time, in the
transaction that claims them, so that neither beginning a round nor a claim costs more for what is
only declared. Position p of study s has the number p * S + s of a round with S studies, whenever
its row is made; numbers of trials that somebody added by hand lie behind all declared ones.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    bindparam,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_file import from_data
from tunewright.design.study import Study
from tunewright.errors import NotFound, RoundChanged, StoreError
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.leases import Worker
from tunewright.store.schema import attempt, round_table, stop, trial
from tunewright.store.trial import Claim, repeat_seed, seed_of_added, trial_seed

AHEAD = 100  # rows made at a time ...
_MOST_AHEAD = 1000  # ... and up to so many where as many are claimed: many workers wait less
_FOLDER = re.compile(r"t(\d{6,18})")

# in the text of the statement, so that the database knows that its partial index will do
PENDING: ColumnElement[str] = literal_column("'pending'")
ADDED = "added"  # the search of a trial whose configuration somebody gave
_split: ScalarSelect[int] = (
    select(round_table.c.split_seed).where(round_table.c.id == trial.c.round).scalar_subquery()
)
_claimed = (
    trial.c.id,
    trial.c.attempt,
    trial.c.number,
    trial.c.study,
    trial.c.position,
    trial.c.configuration,
    trial.c.unit,
    trial.c.seed,
    trial.c.folder,
    trial.c.deaths,
    trial.c.repeat,
    _split.label("split_seed"),
)

# a trial that a user stopped stays pending until its round is run again, which forgets the request
_stopped = select(stop.c.id).where(stop.c.round == trial.c.round, stop.c.number == trial.c.number)
_OPEN_ATTEMPT = insert(attempt)


class Suggested(Protocol):
    """What a search suggests, as far as the store is concerned."""

    @property
    def configuration(self) -> Mapping[str, Value]:
        """The values to try."""
        ...

    @property
    def unit(self) -> Mapping[str, float]:
        """Their position in the unit cube."""
        ...


Suggestions = Callable[[Study, int], Sequence[Suggested]]  # a study's first `count` configurations


At = Callable[[Study, int, int], Sequence[Suggested]]  # a study's `count` ones from a position on


def positions(round: Round, wanted: int = 0) -> int:
    """How many positions of each study to make rows for at a time, where so many are wanted."""
    return -(-max(wanted, AHEAD) // len(round.studies))


def first_positions(
    connection: Connection, round_id: int, round: Round, count: int, known: int | None
) -> int:
    """How many positions need a row when a round of `count` continues; `known` have one already.

    A round without that number (one of version 2, or rebuilt from its folders) may lack any row. A
    trial added by hand holds a number behind the declared ones: where more are declared later, they
    are numbered around it at once.
    """
    here = trial.c.round == round_id
    added = select(trial.c.id).where(here, trial.c.position.is_(None), trial.c.number.is_not(None))
    by_hand = connection.execute(added.limit(1)).first() is not None
    if by_hand and (known is None or count > round.trials_per_study):
        return count
    if known is None:
        last = connection.execute(select(func.max(trial.c.position)).where(here)).scalar()
        known = max(positions(round), 0 if last is None else last + 1)
    return min(count, known)


def positions_on_disk(folder: Path | None, round: Round) -> int:
    """How many positions of each study reach to the last one with a folder.

    A store that was restored from a backup lacks rows that were made since; their folders tell.
    """
    if folder is None:
        return 0
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return 0
    studies = len(round.studies)
    numbers = (int(match[1]) for name in names if (match := _FOLDER.fullmatch(name)))
    declared = round.trials_per_study * studies
    return max((number // studies + 1 for number in numbers if number < declared), default=0)


def add_missing(
    connection: Connection,
    round_id: int,
    directory: str,
    round: Round,
    search: str,
    count: int,
    points: Mapping[int, Sequence[Suggested] | None],
) -> None:
    """Add the rows that the first `count` positions lack; fill those whose suggestion is known."""
    columns = (
        trial.c.id,
        trial.c.study,
        trial.c.position,
        trial.c.number,
        trial.c.configuration,
        trial.c.status,
    )
    rows = connection.execute(
        select(*columns).where(trial.c.round == round_id, trial.c.number.is_not(None))
    ).all()
    there = {(row.study, row.position): row for row in rows if row.position is not None}
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
                fresh.append(_row(round_id, round, s, position, search, point))
            elif point is not None and row.configuration is None and row.status == "pending":
                filled.append({"key": row.id, **_as_columns(point)})
            elif point is not None and row.configuration is not None:
                _compare(round.name, row, point)
    _insert(connection, directory, round, fresh, {row.number for row in rows})
    if filled:
        fill = update(trial).where(trial.c.id == bindparam("key"))
        values: dict[str, Any] = {
            "configuration": bindparam("configuration"),
            "unit": bindparam("unit"),
        }
        connection.execute(fill.values(values), filled)


def _make_more(
    database: Database,
    connection: Connection,
    round_id: int,
    wanted: int,
    at: At | None,
    *,
    wait: bool,
) -> bool:
    """Make rows for the next declared trials, at least `wanted`; False: all of them have one.

    `at` gives their configurations; without it they are filled after they are claimed. Where
    another worker makes rows at this moment, its rows will do: with `wait` they are waited for.
    """
    round_row = select(
        round_table.c.made, round_table.c.definition, round_table.c.directory, round_table.c.search
    ).where(round_table.c.id == round_id)
    row = connection.execute(round_row).first()
    if row is None or row.made is None or not database.alone(connection, wait=wait):
        return False
    before, row = row.made, connection.execute(round_row).one()
    if row.made != before:
        return True  # another worker made some meanwhile
    round = from_data(plain_json.loads(row.definition, "the round"))
    rows = max(wanted, min(row.made * len(round.studies), _MOST_AHEAD))
    end = min(row.made + positions(round, rows), round.trials_per_study)
    points = {s.number: at and at(s, row.made, end - row.made) for s in round.studies}
    fresh = []
    for position in range(row.made, end):
        for s in round.studies:
            suggested = points[s.number]
            point = suggested[position - row.made] if suggested else None
            fresh.append(_row(round_id, round, s, position, row.search, point))
    behind = trial.c.number >= row.made * len(round.studies)
    taken = connection.execute(select(trial.c.number).where(trial.c.round == round_id, behind))
    _insert(connection, row.directory, round, fresh, set(taken.scalars()))
    set_made(connection, round_id, end, round.trials_per_study)
    return True


def set_made(connection: Connection, round_id: int, rows: int, count: int) -> None:
    """Note how many positions of each study have a row."""
    round_row = update(round_table).where(round_table.c.id == round_id)
    connection.execute(round_row.values(made=None if rows >= count else rows))


def _free_number(connection: Connection, round_id: int) -> int:
    """The number of a trial that is added by hand: behind every declared one."""
    highest = select(func.max(trial.c.number)).where(trial.c.round == round_id)
    number = connection.execute(highest).scalar()
    number = 0 if number is None else number + 1
    chosen = select(round_table.c.made, round_table.c.definition).where(
        round_table.c.id == round_id
    )
    row = connection.execute(chosen).one()
    if row.made is None:
        return number
    round = from_data(plain_json.loads(row.definition, "the round"))
    return max(number, round.trials_per_study * len(round.studies))


def trial_folder(directory: str, number: int, repeat: int | None = None) -> str:
    """A trial's folder, made of ids alone: names never become paths.

    >>> trial_folder("r1-9f2c1a", 12), trial_folder("r1-9f2c1a", 12, repeat=3)
    ('r1-9f2c1a/t000012', 'r1-9f2c1a/t000012.repeat3')
    """
    folder = f"{directory}/t{number:06d}"
    return folder if repeat is None else f"{folder}.repeat{repeat}"


def _insert(
    connection: Connection,
    directory: str,
    round: Round,
    fresh: Iterable[dict[str, Any]],
    taken: set[int | None],
) -> None:
    """Insert rows under their numbers; those of trials added by hand are passed over."""
    number, rows = 0, []
    for values in fresh:
        number = max(number, values["position"] * len(round.studies) + values["study"])
        while number in taken:
            number += 1
        taken.add(number)
        rows.append({**values, "number": number, "folder": trial_folder(directory, number)})
    if rows:
        connection.execute(insert(trial), rows)


def _row(
    round_id: int, round: Round, study: Study, position: int, search: str, point: Suggested | None
) -> dict[str, Any]:
    return {
        "round": round_id,
        "study": study.number,
        "position": position,
        "seed": trial_seed(round.seed, position),
        "search": search,
        "status": "pending",
        "configuration": None,
        "unit": None,
        **({} if point is None else _as_columns(point)),
    }


def _as_columns(point: Suggested) -> dict[str, str]:
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


def _moving(pending: Select[tuple[int]]) -> Any:
    """Pending to running. The rows are picked in a common table expression, so that PostgreSQL
    evaluates the pick once, and skips what another worker is about to take."""
    picked = pending.with_for_update(skip_locked=True).cte("picked")
    return (
        update(trial)
        .where(trial.c.id.in_(select(picked.c.id)))
        .values(status="running", worker=bindparam("owner"), attempt=trial.c.attempt + 1)
        .returning(*_claimed)
    )


_CLAIM = _moving(
    select(trial.c.id)
    .where(
        trial.c.round == bindparam("of_round"),
        trial.c.status == PENDING,
        trial.c.number.is_not(None),
        ~_stopped.exists(),
    )
    .order_by(trial.c.number)
    .limit(bindparam("count"))
)


_CLAIM_REPEATS = _moving(
    select(trial.c.id)
    .where(trial.c.parent == bindparam("of_parent"), trial.c.status == PENDING)
    .order_by(trial.c.repeat)
    .limit(bindparam("count"))
)


def claim(
    database: Database, round_id: int, worker: Worker, count: int, at: At | None = None
) -> list[Claim]:
    """Take up to `count` pending trials, lowest numbers first; fewer when no more are left.

    `at` suggests configurations by position, for the trials whose rows are made now.
    """
    taken: list[Claim] = []
    with database.writing(durable=False) as connection:
        while True:
            missing = count - len(taken)
            taken += _take(connection, _CLAIM, {"of_round": round_id, "count": missing}, worker)
            missing = count - len(taken)
            # whoever holds rows waits for nobody: that one may be waiting for these rows
            if missing <= 0 or not _make_more(
                database, connection, round_id, missing, at, wait=not taken
            ):
                return taken


def claim_repeats(
    database: Database, round_id: int, worker: Worker, parent_number: int, count: int
) -> list[Claim]:
    """Take up to `count` pending repeats of a trial."""
    with database.writing(durable=False) as connection:
        parent = _parent(connection, round_id, parent_number)
        parameters = {"of_parent": parent.id, "count": count}
        return _take(connection, _CLAIM_REPEATS, parameters, worker)


def _take(
    connection: Connection, statement: Any, parameters: Mapping[str, Any], worker: Worker
) -> list[Claim]:
    rows = connection.execute(statement, {**parameters, "owner": worker.id}).all()
    if rows:
        connection.execute(
            _OPEN_ATTEMPT,
            [{"trial": row.id, "n": row.attempt, "worker": worker.id} for row in rows],
        )
    claims = [_claim(row, worker) for row in rows]
    order = {row.id: row.number if row.number is not None else row.repeat for row in rows}
    return sorted(claims, key=lambda claim: order[claim.trial])


def _claim(row: Any, worker: Worker) -> Claim:
    where = f"trial {row.number} of the store"
    return Claim(
        trial=row.id,
        attempt=row.attempt,
        worker=worker.id,
        number=row.number,
        study=row.study,
        index=row.position,
        configuration=row.configuration and plain_json.loads(row.configuration, where),
        unit=plain_json.loads(row.unit, where) if row.unit else {},
        seed=row.seed,
        split_seed=row.split_seed,
        folder=row.folder,
        attempts_died=row.deaths,
    )


def add(
    database: Database,
    round_id: int,
    worker: Worker,
    configuration: Mapping[str, Value],
    study: int,
    unit: Mapping[str, float],
) -> Claim:
    """Open a trial for a configuration of one's own, under the next free number, and claim it."""
    with database.writing() as connection:
        database.alone(connection)
        directory, seed = _directory_and_seed(connection, round_id)
        number = _free_number(connection, round_id)
        (key,) = connection.execute(
            insert(trial).values(
                round=round_id,
                study=study,
                number=number,
                configuration=plain_json.dumps(dict(configuration)),
                unit=plain_json.dumps(dict(unit)),
                seed=seed_of_added(seed, number),
                search=ADDED,
                folder=trial_folder(directory, number),
                status="running",
                attempt=1,
                worker=worker.id,
            )
        ).inserted_primary_key or (None,)
        connection.execute(_OPEN_ATTEMPT, [{"trial": key, "n": 1, "worker": worker.id}])
        row = connection.execute(select(*_claimed).where(trial.c.id == key)).one()
    return _claim(row, worker)


def add_repeats(database: Database, round_id: int, parent_number: int, times: int) -> int:
    """Create the repeats a trial lacks, so that it has `times` in all; how many were created."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise StoreError("repeat.times_not_positive", times=times)
    with database.writing() as connection:
        database.alone(connection)
        parent = _parent(connection, round_id, parent_number)
        if parent.configuration is None:
            raise StoreError("repeat.nothing_to_repeat", trial=parent_number)
        there = connection.execute(
            select(func.count()).select_from(trial).where(trial.c.parent == parent.id)
        ).scalar_one()
        directory, seed = _directory_and_seed(connection, round_id)
        rows = [
            {
                "round": round_id,
                "study": parent.study,
                "parent": parent.id,
                "repeat": repeat,
                "configuration": parent.configuration,
                "unit": parent.unit,
                "seed": repeat_seed(seed, repeat),
                "search": parent.search,
                "folder": trial_folder(directory, parent_number, repeat),
                "status": "pending",
                "number": null(),
            }
            for repeat in range(there + 1, times + 1)
        ]
        if rows:
            connection.execute(insert(trial).values(rows))
    return len(rows)


def _directory_and_seed(connection: Connection, round_id: int) -> tuple[str, int]:
    """Where the folders of a round's trials stand, and the seed that theirs follow from."""
    chosen = select(round_table.c.directory, round_table.c.definition)
    row = connection.execute(chosen.where(round_table.c.id == round_id)).one()
    return row.directory, plain_json.loads(row.definition, "the round").get("seed", 0)


def _parent(connection: Connection, round_id: int, number: int) -> Any:
    row = connection.execute(
        select(trial).where(trial.c.round == round_id, trial.c.number == number)
    ).first()
    if row is None:
        raise NotFound("round.no_such_trial", trial=number)
    return row


def reopen(database: Database, round_id: int) -> list[int]:
    """Put the failed trials of a round back to pending, their deaths forgotten; their numbers."""
    with database.writing() as connection:
        rows = connection.execute(
            update(trial)
            .where(
                trial.c.round == round_id, trial.c.status == "failed", trial.c.number.is_not(None)
            )
            .values(status="pending", deaths=0, reason="", detail="")
            .returning(trial.c.number)
        )
        return sorted(row.number for row in rows)
