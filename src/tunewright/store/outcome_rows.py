"""An outcome as rows: the trial, its attempt and its points, written behind a fence.

An owner that ends its trial and the replay of a trial's files both write through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Float, Integer, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tunewright.store import summary
from tunewright.store.database import Database
from tunewright.store.outcome import Ended
from tunewright.store.reason import encode
from tunewright.store.schema import attempt, curve, trial
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import ENDED

# what the end of an attempt changes in the row of its trial; each fence adds its own conditions
ENDING: dict[str, Any] = {
    "status": bindparam("becomes"),
    "reason": bindparam("why"),
    "detail": bindparam("long_text"),
    "seconds": trial.c.seconds + bindparam("more"),
    "deaths": trial.c.deaths + bindparam("died"),
    "peak_memory_mb": func.coalesce(bindparam("peak", type_=Float), trial.c.peak_memory_mb),
}
_ATTEMPT = (
    update(attempt)
    .where(attempt.c.trial == bindparam("own_trial"), attempt.c.n == bindparam("own_attempt"))
    .values(
        ended=bindparam("at"),
        outcome=bindparam("how"),
        cause=bindparam("why"),
        seconds=bindparam("more"),
        start_step=func.coalesce(bindparam("start", type_=Integer), attempt.c.start_step),
    )
)
_NEXT = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
    curve.c.trial == bindparam("own_trial"), curve.c.attempt == bindparam("own_attempt")
)
# written twice after an answer was lost, a batch counts once
_KEEP_SQLITE = sqlite.insert(curve).on_conflict_do_nothing()
_KEEP_POSTGRESQL = postgresql.insert(curve).on_conflict_do_nothing()


def write(
    database: Database,
    connection: Connection,
    fenced: Any,
    ended: Ended,
    *,
    at: float | None,
    fence: Mapping[str, Any] | None = None,
) -> bool:
    """Write an outcome where the `fenced` update of its trial finds a row; whether it did.

    `fence` has the parameters of that update, `at` is when the attempt ended; None: not known.
    """
    outcome = ended.outcome
    key = {"own_trial": ended.trial, "own_attempt": ended.attempt}
    shared = {"why": encode(outcome.reason), "more": outcome.seconds}
    of_trial = {
        "becomes": outcome.becomes,
        "long_text": storable(outcome.detail, LONGEST_TEXT),
        "died": int(outcome.status == "died"),
        "peak": outcome.peak_memory_mb,
    }
    if connection.execute(fenced, {**key, **shared, **of_trial, **(fence or {})}).rowcount != 1:
        return False
    of_attempt = {"at": at, "how": outcome.status, "start": outcome.start_step}
    connection.execute(_ATTEMPT, {**key, **shared, **of_attempt})
    keep_batches(database, connection, (ended.trial, ended.attempt), outcome.batches, outcome.first)
    if outcome.becomes in ENDED and summary.is_long(outcome.batches, outcome.first):
        summary.write(connection, ended.trial)
    return True


def keep_batches(
    database: Database,
    connection: Connection,
    key: tuple[int, int],
    batches: Sequence[bytes],
    first: int | None,
) -> None:
    """Add packed points to an attempt (trial and number); those the store has are skipped.

    `first` is the place of the first batch among the attempt's; None: after those in the store.
    """
    if not batches:
        return
    if first is None:
        where = {"own_trial": key[0], "own_attempt": key[1]}
        first = connection.execute(_NEXT, where).scalar_one()
    connection.execute(
        _KEEP_SQLITE if database.sqlite else _KEEP_POSTGRESQL,
        [
            {"trial": key[0], "attempt": key[1], "sequence": first + place, "points": points}
            for place, points in enumerate(batches)
        ],
    )
