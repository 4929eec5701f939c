"""Fenced writes: only the worker that holds a trial can update it.

Each write names the trial, its attempt and the worker, and requires that the trial runs; a worker
that lost its lease gets OutOfDate before anything is written. Every fence is the first statement,
so that inside a larger transaction one refused write leaves the others whole.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tunewright.design.ranges import Value
from tunewright.errors import OutOfDate, StoreError
from tunewright.store import outcome_rows, plain_json
from tunewright.store.claim import Claim
from tunewright.store.database import Database
from tunewright.store.outcome import End, Ended, Outcome
from tunewright.store.outcome_rows import ENDING
from tunewright.store.reason import encode
from tunewright.store.schema import attempt, snapshot, trial
from tunewright.store.storable import storable
from tunewright.store.trial import ENDED

_fenced = update(trial).where(
    trial.c.id == bindparam("own_trial"),
    trial.c.worker == bindparam("own_worker"),
    trial.c.attempt == bindparam("own_attempt"),
    trial.c.status == "running",
)
_FENCE = _fenced.values(worker=trial.c.worker)  # changes nothing: it only locks the row
_FILL = _fenced.values(configuration=bindparam("configuration"), unit=bindparam("unit"))
_BEGIN = _fenced.values(command=bindparam("command"))
_END = _fenced.values(ENDING)
_own_attempt = update(attempt).where(
    attempt.c.trial == bindparam("own_trial"), attempt.c.n == bindparam("own_attempt")
)
_ATTEMPT_BEGAN = _own_attempt.values(
    start_step=bindparam("first"),
    place=bindparam("where"),
    began=bindparam("at"),
)
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
        key = (claim.trial, claim.attempt)
        outcome_rows.keep_batches(database, connection, key, batches, first)


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


def end(database: Database, claim: Claim, outcome: Outcome) -> None:
    """End the attempt: points, trial and attempt in one transaction. Written twice, it counts once.

    The trial becomes what the outcome makes of it; `pending` is another attempt. Only a death
    counts towards the limit of three.
    """
    if outcome.status not in get_args(End):
        raise StoreError("trial.bad_status", ended=list(get_args(End)), status=outcome.status)
    ended = Ended(claim.trial, claim.attempt, outcome)
    with database.writing() as connection:
        fence = {"own_worker": claim.worker}
        if outcome_rows.write(database, connection, _END, ended, at=time.time(), fence=fence):
            return
        if not (_is_ended(connection, claim, outcome) or _is_own_end(connection, claim, outcome)):
            raise _lost(claim)


def _pass_fence(connection: Connection, statement: Any, claim: Claim, values: Any) -> None:
    fence = {
        "own_trial": claim.trial,
        "own_worker": claim.worker,
        "own_attempt": claim.attempt,
    }
    if connection.execute(statement, {**fence, **values}).rowcount != 1:
        raise _lost(claim)


def _lost(claim: Claim) -> OutOfDate:
    what = "a repeat" if claim.number is None else f"trial {claim.number}"
    return OutOfDate("lease.lost", attempt=claim.attempt, what=what)


def _is_ended(connection: Connection, claim: Claim, outcome: Outcome) -> bool:
    """Whether this attempt has ended the trial in the same way already."""
    if outcome.becomes not in ENDED:
        return False
    row = connection.execute(
        select(trial.c.status, trial.c.attempt, trial.c.worker).where(trial.c.id == claim.trial)
    ).first()
    return row is not None and tuple(row) == (outcome.status, claim.attempt, claim.worker)


def _is_own_end(connection: Connection, claim: Claim, outcome: Outcome) -> bool:
    """Whether this very end of the attempt is committed: how, why and after how many seconds.

    The attempt's row stays when others run the trial again, so the answer may come late.
    """
    row = connection.execute(
        select(attempt.c.worker, attempt.c.outcome, attempt.c.cause, attempt.c.seconds).where(
            attempt.c.trial == claim.trial, attempt.c.n == claim.attempt
        )
    ).first()
    own = (claim.worker, outcome.status, encode(outcome.reason), outcome.seconds)
    return row is not None and tuple(row) == own
