"""Which code did each trial of a round run? The provenance of its newest attempt, all in one go."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from tunewright.store import applied
from tunewright.store.database import Database
from tunewright.store.provenance import Provenance, from_payload
from tunewright.store.schema import attempt, provenance, trial

_POINTERS = (
    select(attempt.c.trial, attempt.c.provenance)
    .join(trial, trial.c.id == attempt.c.trial)
    .where(trial.c.round == bindparam("of_round"), attempt.c.provenance.is_not(None))
    .order_by(attempt.c.trial, attempt.c.n)
)


def read_origins(database: Database, round_id: int) -> dict[int, Provenance]:
    """The provenance of each trial and repeat of a round that has one, by the store's key."""
    with database.reading() as connection:
        # of several attempts the newest comes last and stays
        keys = {own: key for own, key in connection.execute(_POINTERS, {"of_round": round_id})}
        wanted = select(provenance.c.id, provenance.c.payload).where(
            provenance.c.id.in_(sorted(set(keys.values())))
        )
        payloads = {key: payload for key, payload in connection.execute(wanted)}
        behind = applied.shared(connection, payloads.values())
    read = {payload: from_payload(text) for payload, text in behind.items()}
    found = {key: read[payload] for key, payload in payloads.items() if payload in read}
    return {own: found[key] for own, key in keys.items() if key in found}
