"""Claims: how a trial comes to an owner, exactly once under each attempt.

A claim moves pending to running and opens the next attempt, in one transaction, lowest numbers
first. Where too few rows are pending, those of the next declared trials are made first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from tunewright.errors import NotFound, StoreError
from tunewright.store import plain_json
from tunewright.store.claim import Claim
from tunewright.store.database import Database
from tunewright.store.leases import Worker
from tunewright.store.schema import attempt, round_table, stop, trial
from tunewright.store.seed import added_seed, repeat_seed
from tunewright.store.trial_rows import At, free_number, make_more, trial_folder

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


def _moving(pending: Select[tuple[int]]) -> Any:
    """Pending to running. The rows are picked in a common table expression, so that PostgreSQL
    evaluates the pick once, and skips what another worker is about to take."""
    picked = pending.with_for_update(skip_locked=True).cte("picked")
    return (
        update(trial)
        .where(trial.c.id.in_(select(picked.c.id)))
        .values(
            status="running",
            worker=bindparam("owner"),
            attempt=trial.c.attempt + 1,
        )
        .returning(*_claimed)
    )


# a trial that a user stopped stays pending until its round is run again, which forgets the request
_stopped = select(stop.c.id).where(stop.c.round == trial.c.round, stop.c.number == trial.c.number)
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
_OPEN_ATTEMPT = insert(attempt)


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
            taken += _taken(connection, _CLAIM, {"of_round": round_id, "count": missing}, worker)
            missing = count - len(taken)
            # whoever holds rows waits for nobody: that one may be waiting for these rows
            if missing <= 0 or not make_more(
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
        return _taken(connection, _CLAIM_REPEATS, parameters, worker)


def _taken(
    connection: Connection,
    statement: Any,
    parameters: Mapping[str, Any],
    worker: Worker,
) -> list[Claim]:
    rows = connection.execute(statement, {**parameters, "owner": worker.id}).all()
    if rows:
        connection.execute(
            _OPEN_ATTEMPT,
            [{"trial": row.id, "n": row.attempt, "worker": worker.id} for row in rows],
        )
    claims = [_claim(row, worker) for row in rows]
    order = {row.id: row.number if row.number is not None else row.repeat for row in rows}
    return sorted(claims, key=lambda own: order[own.trial])


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
        found = connection.execute(
            select(
                round_table.c.directory, round_table.c.split_seed, round_table.c.definition
            ).where(round_table.c.id == round_id)
        ).one()
        number = free_number(connection, round_id)
        seed = plain_json.loads(found.definition, "the round").get("seed", 0)
        (key,) = connection.execute(
            insert(trial).values(
                round=round_id,
                study=study,
                number=number,
                configuration=plain_json.dumps(dict(configuration)),
                unit=plain_json.dumps(dict(unit)),
                seed=added_seed(seed, number),
                search=ADDED,
                folder=trial_folder(found.directory, number),
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
        found = connection.execute(
            select(round_table.c.directory, round_table.c.definition).where(
                round_table.c.id == round_id
            )
        ).one()
        seed = plain_json.loads(found.definition, "the round").get("seed", 0)
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
                "folder": trial_folder(found.directory, parent_number, repeat),
                "status": "pending",
                "number": null(),
            }
            for repeat in range(there + 1, times + 1)
        ]
        if rows:
            connection.execute(insert(trial).values(rows))
    return len(rows)


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
