"""The values that a program reports it used, stored with the provenance of its attempt.

Many attempts share one provenance, which may hold a long diff, and each trial uses other values. So
these have a separate row in the same table: `{"of": checksum of the shared one, "applied": {...}}`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tunewright.store import plain_json
from tunewright.store.claim import Claim
from tunewright.store.database import Database
from tunewright.store.schema import attempt, provenance, trial

_BEGINS = '{"of":'  # the payload of such a row; that of a shared one begins with its command
_own_attempt = (
    attempt.c.trial == bindparam("own_trial"),
    attempt.c.n == bindparam("own_attempt"),
    attempt.c.worker == bindparam("own_worker"),
)
_CURRENT = (
    select(provenance.c.sha256, provenance.c.payload)
    .join(attempt, attempt.c.provenance == provenance.c.id)
    .where(*_own_attempt)
)
_POINT = update(attempt).where(*_own_attempt).values(provenance=bindparam("key"))
_APPLIED = (
    select(attempt.c.trial, provenance.c.payload)
    .join(provenance, attempt.c.provenance == provenance.c.id)
    .where(provenance.c.payload.startswith(_BEGINS, autoescape=True))
    .order_by(attempt.c.n)
)
_OF_TRIAL = _APPLIED.where(attempt.c.trial == bindparam("of_trial"))
_OF_ROUND = _APPLIED.join(trial, trial.c.id == attempt.c.trial).where(
    trial.c.round == bindparam("of_round")
)


def keep(database: Database, claim: Claim, values: Mapping[str, Any]) -> None:
    """Keep what an attempt's program reports; `values` are all so far and replace earlier ones."""
    own = {"own_trial": claim.trial, "own_attempt": claim.attempt, "own_worker": claim.worker}
    with database.writing(durable=False) as connection:
        now = connection.execute(_CURRENT, own).first()
        shared = None if now is None else shared_by(now.payload) or now.sha256
        payload = plain_json.dumps({"of": shared, "applied": dict(values)})
        checksum = hashlib.sha256(payload.encode()).hexdigest()
        dialect: Any = sqlite if database.sqlite else postgresql
        row = {"sha256": checksum, "payload": payload}
        connection.execute(dialect.insert(provenance).on_conflict_do_nothing(), row)
        known = select(provenance.c.id).where(provenance.c.sha256 == checksum)
        key = connection.execute(known).scalar_one()
        connection.execute(_POINT, {**own, "key": key})


def of_round(connection: Connection, round_id: int) -> dict[int, dict[str, Any]]:
    """What the newest reporting attempt of each trial used, by the trial's key."""
    return _read(connection.execute(_OF_ROUND, {"of_round": round_id}))


def of_trial(connection: Connection, key: int) -> dict[str, Any] | None:
    """What the newest reporting attempt of one trial used; None: none reported anything."""
    return _read(connection.execute(_OF_TRIAL, {"of_trial": key})).get(key)


def shared_by(payload: str) -> str | None:
    """The checksum of the shared provenance that a row refers to; None: it is one itself."""
    if not payload.startswith(_BEGINS):
        return None
    found = plain_json.loads_object(payload, "the applied values of a trial").get("of")
    return found if isinstance(found, str) else None


def shared(connection: Connection, payloads: Iterable[str]) -> dict[str, str]:
    """The payload of the shared provenance behind each of these payloads that has one."""
    given = {payload: shared_by(payload) for payload in payloads}
    wanted = sorted({checksum for checksum in given.values() if checksum})
    chosen = select(provenance.c.sha256, provenance.c.payload).where(
        provenance.c.sha256.in_(wanted)
    )
    found = {sha: text for sha, text in connection.execute(chosen)} if wanted else {}
    own = {payload: payload for payload in given if not payload.startswith(_BEGINS)}
    return own | {payload: found[sha] for payload, sha in given.items() if sha in found}


def _read(rows: Iterable[Any]) -> dict[int, dict[str, Any]]:
    with plain_json.as_written("the applied values of a trial"):
        return {
            key: dict(plain_json.loads_object(payload, "applied values")["applied"])
            for key, payload in rows
        }
