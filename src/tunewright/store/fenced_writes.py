"""What an owner tells about its trial, fenced: a write by anybody else changes nothing.

Each write names the trial, its attempt and the owner, and requires that the trial runs; if its
lease was taken, OutOfDate is raised before anything is written. Every fence is the first statement,
so that inside a larger transaction one refused write leaves the others whole.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tunewright.design.ranges import Value
from tunewright.errors import OutOfDate, StoreError
from tunewright.messages import Message
from tunewright.store import plain_json, summary
from tunewright.store.claims import Claim
from tunewright.store.database import Database
from tunewright.store.reason import encode
from tunewright.store.schema import attempt, curve, snapshot, trial
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import ENDED, Status

_fenced = update(trial).where(
    trial.c.id == bindparam("own_trial"),
    trial.c.worker == bindparam("own_worker"),
    trial.c.attempt == bindparam("own_attempt"),
    trial.c.status == "running",
)
_FENCE = _fenced.values(worker=trial.c.worker)  # changes nothing: it only locks the row
_FILL = _fenced.values(configuration=bindparam("configuration"), unit=bindparam("unit"))
_BEGIN = _fenced.values(command=bindparam("command"))
_FINISH = _fenced.values(
    status=bindparam("status"),
    reason=bindparam("reason"),
    detail=bindparam("detail"),
    seconds=trial.c.seconds + bindparam("more"),
    peak_memory_mb=func.coalesce(bindparam("peak"), trial.c.peak_memory_mb),
)
_RELEASE = _fenced.values(
    status="pending",
    reason=bindparam("reason"),
    detail=bindparam("detail"),
    seconds=trial.c.seconds + bindparam("more"),
    deaths=trial.c.deaths + bindparam("died"),
    peak_memory_mb=func.coalesce(bindparam("peak"), trial.c.peak_memory_mb),
)
_own_attempt = update(attempt).where(
    attempt.c.trial == bindparam("own_trial"), attempt.c.n == bindparam("own_attempt")
)
_ATTEMPT_BEGAN = _own_attempt.values(
    start_step=bindparam("first"),
    place=bindparam("where"),
    began=bindparam("at"),
)
_ATTEMPT_ENDED = _own_attempt.values(
    ended=bindparam("at"),
    outcome=bindparam("how"),
    cause=bindparam("why"),
    seconds=bindparam("more"),
)
_NEXT = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
    curve.c.trial == bindparam("own_trial"), curve.c.attempt == bindparam("own_attempt")
)
# told twice after an answer was lost, a batch stands once
_KEEP_SQLITE = sqlite.insert(curve).on_conflict_do_nothing()
_KEEP_POSTGRESQL = postgresql.insert(curve).on_conflict_do_nothing()
_SAVE_SQLITE = sqlite.insert(snapshot).on_conflict_do_nothing()
_SAVE_POSTGRESQL = postgresql.insert(snapshot).on_conflict_do_nothing()


def fill(
    database: Database, claim: Claim, configuration: Mapping[str, Value], unit: Mapping[str, float]
) -> None:
    """Give a claimed trial the configuration an adaptive search suggested."""
    with database.writing(durable=False) as connection:
        written = {
            "configuration": plain_json.dumps(dict(configuration)),
            "unit": plain_json.dumps(dict(unit)),
        }
        _pass_fence(connection, _FILL, claim, written)


def began(database: Database, claim: Claim, start_step: int, place: str, command: str) -> None:
    """The training program starts, or resumes after `start_step` updates."""
    with database.writing(durable=False) as connection:
        _pass_fence(connection, _BEGIN, claim, {"command": storable(command)})
        connection.execute(
            _ATTEMPT_BEGAN,
            {
                "own_trial": claim.trial,
                "own_attempt": claim.attempt,
                "first": start_step,
                "where": storable(place),
                "at": time.time(),
            },
        )


def log(database: Database, claim: Claim, batches: Sequence[bytes], first: int | None) -> None:
    """Keep packed points; `first` is the place of the first batch among the attempt's, from 0."""
    if not batches:
        return
    with database.writing() as connection:
        _pass_fence(connection, _FENCE, claim, {})
        _keep(database, connection, claim, batches, first)


def saved(database: Database, claim: Claim, step: int, path: str, sha256: str) -> None:
    """A snapshot was written; `path` is relative to the trial folder."""
    with database.writing() as connection:
        _pass_fence(connection, _FENCE, claim, {})
        connection.execute(
            _SAVE_SQLITE if database.sqlite else _SAVE_POSTGRESQL,
            {
                "trial": claim.trial,
                "attempt": claim.attempt,
                "step": step,
                "path": storable(path),
                "sha256": storable(sha256),
                "saved": time.time(),
            },
        )


def finish(
    database: Database,
    claim: Claim,
    status: Status,
    reason: Message | None,
    detail: str,
    seconds: float,
    peak_memory_mb: float | None,
    last: Sequence[bytes],
    first: int | None,
) -> None:
    """End the trial: last points and status in one transaction; told twice, it counts once."""
    if status not in ENDED:
        raise StoreError("trial.bad_status", ended=list(ENDED), status=status)
    values = {
        "status": status,
        "reason": encode(reason),
        "detail": storable(detail, LONGEST_TEXT),
        "more": seconds,
        "peak": peak_memory_mb,
    }
    with database.writing() as connection:
        try:
            _pass_fence(connection, _FINISH, claim, values)
        except OutOfDate:
            if _was_told(connection, claim, status):
                return
            if _is_own_end(connection, claim, status, reason, seconds):
                return
            raise
        _keep(database, connection, claim, last, first)
        _end_attempt(connection, claim, status, reason, seconds)
        if summary.is_long(last, first):
            summary.write(connection, claim.trial)


def release(
    database: Database,
    claim: Claim,
    cause: Message | None,
    died: bool,
    seconds: float,
    detail: str,
    peak_memory_mb: float | None,
    last: Sequence[bytes],
    first: int | None,
) -> None:
    """Return the trial to pending, for another attempt. Only a death counts towards the three.

    Written twice, since the answer to the first was lost, it counts once.
    """
    outcome = "died" if died else "stopped"
    values = {
        "reason": encode(cause),
        "detail": storable(detail, LONGEST_TEXT),
        "more": seconds,
        "died": int(died),
        "peak": peak_memory_mb,
    }
    with database.writing() as connection:
        try:
            _pass_fence(connection, _RELEASE, claim, values)
        except OutOfDate:
            if _is_own_end(connection, claim, outcome, cause, seconds):
                return
            raise
        _keep(database, connection, claim, last, first)
        _end_attempt(connection, claim, outcome, cause, seconds)


def _pass_fence(connection: Connection, statement: Any, claim: Claim, values: Any) -> None:
    fence = {
        "own_trial": claim.trial,
        "own_worker": claim.worker,
        "own_attempt": claim.attempt,
    }
    if connection.execute(statement, {**fence, **values}).rowcount != 1:
        what = "a repeat" if claim.number is None else f"trial {claim.number}"
        raise OutOfDate("lease.lost", attempt=claim.attempt, what=what)


def _was_told(connection: Connection, claim: Claim, status: Status) -> bool:
    row = connection.execute(
        select(trial.c.status, trial.c.attempt, trial.c.worker).where(trial.c.id == claim.trial)
    ).first()
    return row is not None and tuple(row) == (status, claim.attempt, claim.worker)


def _is_own_end(
    connection: Connection, claim: Claim, outcome: str, cause: Message | None, seconds: float
) -> bool:
    """Whether this very end of the attempt is committed: how, why and after how many seconds.

    The attempt's row stays when others run the trial again, so the answer may come late.
    """
    row = connection.execute(
        select(attempt.c.worker, attempt.c.outcome, attempt.c.cause, attempt.c.seconds).where(
            attempt.c.trial == claim.trial, attempt.c.n == claim.attempt
        )
    ).first()
    return row is not None and tuple(row) == (claim.worker, outcome, encode(cause), seconds)


def _keep(
    database: Database,
    connection: Connection,
    claim: Claim,
    batches: Sequence[bytes],
    first: int | None,
) -> None:
    if not batches:
        return
    if first is None:
        where = {"own_trial": claim.trial, "own_attempt": claim.attempt}
        first = connection.execute(_NEXT, where).scalar_one()
    connection.execute(
        _KEEP_SQLITE if database.sqlite else _KEEP_POSTGRESQL,
        [
            {
                "trial": claim.trial,
                "attempt": claim.attempt,
                "sequence": first + place,
                "points": points,
            }
            for place, points in enumerate(batches)
        ],
    )


def _end_attempt(
    connection: Connection, claim: Claim, outcome: str, cause: Message | None, seconds: float
) -> None:
    connection.execute(
        _ATTEMPT_ENDED,
        {
            "own_trial": claim.trial,
            "own_attempt": claim.attempt,
            "at": time.time(),
            "how": outcome,
            "why": encode(cause),
            "more": seconds,
        },
    )
