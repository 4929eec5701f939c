"""The replay of a trial's history: claims and outcomes from elsewhere become rows, fenced.

Recovery replays what reached a trial folder and not the store, `rebuild` replays whole folders into
a new store, and an import replays what another tool has done. Replayed twice, it counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, insert, or_, select, true, update

from tunewright.store import outcome_rows, plain_json
from tunewright.store.claim import NOBODY, Claim
from tunewright.store.database import Database
from tunewright.store.outcome import Ended
from tunewright.store.outcome_rows import ENDING
from tunewright.store.schema import attempt, trial, worker
from tunewright.store.spool import numbered
from tunewright.store.storable import storable

_retired = select(worker.c.id).where(worker.c.retired.is_not(None))
UNOWNED: ColumnElement[bool] = or_(
    trial.c.status == "pending",
    (trial.c.status == "running") & trial.c.worker.in_(_retired),
)
# rows that this very transaction has made: nobody else can see them
NEW: ColumnElement[bool] = true()
_end_unknown = (
    select(attempt.c.id)
    .where(
        attempt.c.trial == bindparam("own_trial"),
        attempt.c.n == bindparam("own_attempt"),
        attempt.c.outcome.in_(("", "lost")),
    )
    .exists()
)
_OPEN_ATTEMPT = insert(attempt)
_own = update(trial).where(trial.c.id == bindparam("own_trial"))
_ATTEMPT = _own.values(attempt=bindparam("newest"))
_FILLED = _ATTEMPT.values(configuration=bindparam("configuration"), unit=bindparam("unit"))


@dataclass(frozen=True)
class Fence:
    """Which rows a replay may change, and to whom it gives the attempts that it adds."""

    holds: ColumnElement[bool]
    worker: int = NOBODY
    at: float | None = None  # when the attempts ended; None: not known

    @cached_property
    def newest(self) -> Any:
        """The query of a trial's newest attempt, for the update that follows."""
        own = trial.c.id == bindparam("own_trial")
        return select(trial.c.attempt).where(own, self.holds).with_for_update()

    @cached_property
    def ending(self) -> Any:
        """The update of a trial whose newest attempt ended in a way that the store lacks."""
        newest = update(trial).where(
            trial.c.id == bindparam("own_trial"),
            trial.c.attempt == bindparam("own_attempt"),
            self.holds,
            _end_unknown,
        )
        return newest.values(ENDING)


def add_row(
    connection: Connection,
    round_id: int,
    claim: Claim,
    search: str,
    parents: Mapping[int, int],
    *,
    command: str = "",
) -> int | None:
    """Insert the row of a claimed trial, with no attempt yet; its key. `parents` are by number.

    None: it is a repeat of a trial that is not there.
    """
    number, repeat = numbered(PurePosixPath(claim.folder).name)
    if repeat is not None and number not in parents:
        return None
    values = {
        "round": round_id,
        "study": claim.study,
        "number": number if repeat is None else None,
        "parent": None if repeat is None else parents[number],
        "repeat": repeat,
        "position": claim.index,
        "seed": claim.seed,
        "search": search,
        "folder": claim.folder,
        "command": storable(command),
        "status": "pending",
        **_tried(claim),
    }
    (key,) = connection.execute(insert(trial), values).inserted_primary_key or (0,)
    return int(key)


def replay(
    database: Database,
    connection: Connection,
    claim: Claim,
    ends: Sequence[Ended],
    fence: Fence,
    *,
    fill: bool = False,
) -> list[Ended]:
    """Write the attempts at a trial up to the one of `claim`, and how they ended; what was new.

    An attempt that began and whose end nobody knows is `lost`: its number is not given out again.
    With `fill` the trial gets the configuration of the claim as well. Nothing is written where the
    fence does not hold, nor over an end that the store has.
    """
    written: list[Ended] = []
    for each in ends:
        ended = replace(each, trial=claim.trial)
        _open_attempts(connection, claim, ended.attempt, fence, fill)
        if outcome_rows.write(database, connection, fence.ending, ended, at=fence.at):
            written.append(ended)
    if not ends or claim.attempt > ends[-1].attempt:
        _open_attempts(connection, claim, claim.attempt, fence, fill)
    return written


def _open_attempts(
    connection: Connection, claim: Claim, newest: int, fence: Fence, fill: bool
) -> None:
    """Add the attempts that the store lacks, and a configuration that was not flushed."""
    known = connection.execute(fence.newest, {"own_trial": claim.trial}).scalar()
    if known is None or (newest <= known and not fill):
        return
    lost = [
        {"trial": claim.trial, "n": n, "worker": fence.worker, "outcome": "lost"}
        for n in range(known + 1, newest + 1)
    ]
    if lost:
        connection.execute(_OPEN_ATTEMPT, lost)
    tried = _tried(claim) if fill else {}
    change = _FILLED if fill else _ATTEMPT
    attempts = {"own_trial": claim.trial, "newest": max(known, newest)}
    connection.execute(change, {**attempts, **tried})


def _tried(claim: Claim) -> dict[str, str]:
    """The configuration of a claim and its point in the unit cube, as columns."""
    return {
        "configuration": plain_json.dumps(dict(claim.configuration or {})),
        "unit": plain_json.dumps(dict(claim.unit)),
    }
