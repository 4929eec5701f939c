"""Fenced writes: only the worker that holds a trial can update it; its outcome becomes rows.

Each write names the trial, its attempt and the worker, and requires that the trial runs; a worker
that lost its lease gets OutOfDate before anything is written. Every fence is the first statement,
so that inside a larger transaction one refused write leaves the others whole. An owner that ends
its trial and the replay of a trial's files both write an outcome through `write_outcome`.

A trial whose curves are long gets a summary when it ends: a page that shows ten thousand trials
reads these instead of thirty million points. A summary is a cache: a trial without one is read from
its curves, which is as quick where they are short.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Float, Integer, bindparam, delete, func, insert, select, update

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import OutOfDate, StoreError
from tunewright.store import plain_json
from tunewright.store.curves import Batch, Curve, Curves
from tunewright.store.database import Database, insert_new
from tunewright.store.judge import judge
from tunewright.store.outcome import End, Ended, Outcome, decode, encode
from tunewright.store.plain_json import LONGEST_TEXT, objective_from, storable
from tunewright.store.read_round import NOTHING, POINTS
from tunewright.store.schema import (
    attempt,
    curve,
    curve_summary,
    round_table,
    snapshot,
    trial,
    trial_summary,
)
from tunewright.store.trial import ENDED, Claim

BUCKETS = 250
_SHORT = 16 * 1024  # bytes of packed points below which a trial is read from its curves
AT_ONCE = 500  # keys that both databases take in one query
_ENDED_TRIAL = (
    select(trial.c.status, trial.c.reason, round_table.c.objective)
    .join(round_table, round_table.c.id == trial.c.round)
    .where(trial.c.id == bindparam("own"))
)
_OWN_POINTS = POINTS.where(attempt.c.trial == bindparam("own"))
_FORGET = tuple(
    delete(table).where(table.c.trial == bindparam("own"))
    for table in (trial_summary, curve_summary)
)

# what the end of an attempt changes in the row of its trial; each fence adds its own conditions
ENDING: dict[str, Any] = {
    "status": bindparam("becomes"),
    "reason": bindparam("why"),
    "detail": bindparam("long_text"),
    "seconds": trial.c.seconds + bindparam("more"),
    "deaths": trial.c.deaths + bindparam("died"),
    "peak_memory_mb": func.coalesce(bindparam("peak", type_=Float), trial.c.peak_memory_mb),
}
_own_attempt = update(attempt).where(
    attempt.c.trial == bindparam("own_trial"), attempt.c.n == bindparam("own_attempt")
)
_ATTEMPT = _own_attempt.values(
    ended=bindparam("at"),
    outcome=bindparam("how"),
    cause=bindparam("why"),
    seconds=bindparam("more"),
    start_step=func.coalesce(bindparam("start", type_=Integer), attempt.c.start_step),
)
_NEXT = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
    curve.c.trial == bindparam("own_trial"), curve.c.attempt == bindparam("own_attempt")
)
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
_ATTEMPT_BEGAN = _own_attempt.values(
    start_step=bindparam("first"), place=bindparam("where"), began=bindparam("at")
)


@dataclass(frozen=True, eq=False)
class Buckets:
    """A curve reduced to the lowest and highest value of each bucket of its steps."""

    last: int  # the buckets divide the steps 0 to this one
    low: npt.NDArray[np.float32]  # NaN where a bucket has no finite point
    high: npt.NDArray[np.float32]

    @property
    def steps(self) -> npt.NDArray[np.float64]:
        """The middle of each bucket."""
        return (np.arange(BUCKETS) + 0.5) * (self.last + 1) / BUCKETS


def reduce(points: Curve) -> Buckets:
    """Reduce a curve to its buckets; points that are not finite are left out.

    >>> reduced = reduce(Curve(np.arange(1000), np.arange(1000.0)))
    >>> float(reduced.low[0]), float(reduced.high[0]), float(reduced.high[-1])
    (0.0, 3.0, 999.0)
    """
    last = int(points.steps[-1]) if len(points) else 0
    low, high = (np.full(BUCKETS, np.nan, np.float32) for _ in range(2))
    with np.errstate(over="ignore"):  # 1e300 is infinite in single precision, and left out too
        values = points.values.astype(np.float32)
    usable = np.isfinite(values) & (points.steps >= 0)
    values = values[usable]
    if len(values):
        # in floating point: a step times the number of buckets may exceed 64 bits
        share = points.steps[usable] / (last + 1.0)
        place = np.minimum((share * BUCKETS).astype(np.int64), BUCKETS - 1)
        starts = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        low[place[starts]] = np.minimum.reduceat(values, starts)
        high[place[starts]] = np.maximum.reduceat(values, starts)
    return Buckets(last, low, high)


def _is_long(batches: Sequence[bytes], first: int | None) -> bool:
    """Whether a trial that ends with these batches may have long curves."""
    return first is None or first > 0 or sum(map(len, batches)) > _SHORT


def _write_summary(connection: Connection, key: int) -> None:
    """Write the summary of a trial that has just ended, in the transaction that ends it."""
    batches = [_batch(row) for row in connection.execute(_OWN_POINTS, {"own": key})]
    for statement in _FORGET:
        connection.execute(statement, {"own": key})
    if sum(len(batch.points) for batch in batches) <= _SHORT:
        return
    ended = connection.execute(_ENDED_TRIAL, {"own": key}).one()
    objective = objective_from(plain_json.loads(ended.objective, f"the round of trial {key}"))
    curves = Curves(batches)
    verdict = judge(objective, ended.status, decode(ended.reason), curves)
    connection.execute(
        insert(trial_summary).values(
            trial=key, status=verdict.status, value=verdict.value, step=verdict.best_step
        )
    )
    summaries = [
        {"trial": key, "metric": name, "last": reduced.last, "buckets": pack_buckets(reduced)}
        for name, reduced in ((name, reduce(points)) for name, points in curves.items())
    ]
    if summaries:
        connection.execute(insert(curve_summary), summaries)


def pack_buckets(reduced: Buckets) -> bytes:
    """Lowest values, then highest, as little-endian float32."""
    return np.concatenate([reduced.low, reduced.high]).astype("<f4").tobytes()


def unpack_buckets(last: int, data: bytes) -> Buckets | None:
    """Read buckets back; None when the bytes are not what `pack_buckets` wrote."""
    if len(data) != 8 * BUCKETS:
        return None
    both = np.frombuffer(data, "<f4")
    return Buckets(int(last), both[:BUCKETS], both[BUCKETS:])


@dataclass(frozen=True)
class Row:
    """An ended trial as a page lists it, without its curves."""

    key: int
    status: str
    value: float | None
    step: int | None


def judge_rows(
    connection: Connection, round_id: int, objective: Objective, keys: Iterable[int] | None = None
) -> Iterator[Row]:
    """Every ended trial of a round, judged; `keys` limits it to some.

    Summaries are read where there are any, and curves of one metric where there are none.
    """
    wanted = None if keys is None else set(keys)
    chosen = (
        select(
            trial.c.id,
            trial.c.status.label("recorded"),
            trial.c.reason,
            trial_summary.c.status,
            trial_summary.c.value,
            trial_summary.c.step,
        )
        .outerjoin(trial_summary, trial_summary.c.trial == trial.c.id)
        .where(trial.c.round == round_id, trial.c.status.not_in(("pending", "running")))
    )
    if wanted is not None and len(wanted) <= AT_ONCE:
        chosen = chosen.where(trial.c.id.in_(sorted(wanted)))
    unread = {}
    for row in connection.execute(chosen):
        if wanted is not None and row.id not in wanted:
            continue
        if row.status is not None:
            yield Row(row.id, row.status, row.value, row.step)
        else:
            unread[row.id] = row
    for key, curves in curves_of(connection, round_id, unread):
        row = unread.pop(key)
        verdict = judge(objective, row.recorded, decode(row.reason), curves)
        yield Row(key, verdict.status, verdict.value, verdict.best_step)
    for key, row in unread.items():  # those that logged nothing
        verdict = judge(objective, row.recorded, decode(row.reason), Curves(()))
        yield Row(key, verdict.status, verdict.value, verdict.best_step)


def buckets_of(
    connection: Connection, round_id: int, metric: str, keys: Iterable[int] | None = None
) -> Iterator[tuple[int, Buckets]]:
    """One metric of every trial of a round that logged it, by the trial's key."""
    wanted = None if keys is None else set(keys)
    kept = (
        select(curve_summary.c.trial, curve_summary.c.last, curve_summary.c.buckets)
        .join(trial, trial.c.id == curve_summary.c.trial)
        .where(trial.c.round == round_id, curve_summary.c.metric == metric)
    )
    have = select(trial_summary.c.trial).join(trial, trial.c.id == trial_summary.c.trial)
    if wanted is not None and len(wanted) <= AT_ONCE:
        if not wanted:
            return
        kept, have = (query.where(trial.c.id.in_(sorted(wanted))) for query in (kept, have))
    summarised = set(connection.execute(have.where(trial.c.round == round_id)).scalars())
    for row in connection.execute(kept):
        if wanted is None or row.trial in wanted:
            reduced = unpack_buckets(row.last, row.buckets)
            if reduced is not None:
                yield row.trial, reduced
    for key, curves in curves_of(connection, round_id, wanted, summarised):
        points = curves.only(metric)
        if points is not None and len(points):
            yield key, reduce(points)


def curves_of(
    connection: Connection, round_id: int, only: Iterable[int] | None, without: Iterable[int] = ()
) -> Iterator[tuple[int, Curves]]:
    """The curves of trials, one trial after the other, so that few are in memory at a time."""
    wanted, unwanted = None if only is None else set(only), set(without)
    if wanted is not None and not wanted:
        return
    chosen = POINTS.join(trial, trial.c.id == attempt.c.trial).where(trial.c.round == round_id)
    if wanted is not None and len(wanted) <= AT_ONCE:
        chosen = chosen.where(trial.c.id.in_(sorted(wanted)))
    elif unwanted:
        chosen = chosen.outerjoin(trial_summary, trial_summary.c.trial == trial.c.id).where(
            trial_summary.c.trial.is_(None)
        )
    key: int | None = None
    batches: list[Batch] = []
    for row in connection.execute(chosen.execution_options(yield_per=200)):
        if (wanted is not None and row.trial not in wanted) or row.trial in unwanted:
            continue
        if row.trial != key:
            if key is not None:
                yield key, Curves(batches)
            key, batches = row.trial, []
        batches.append(_batch(row))
    if key is not None:
        yield key, Curves(batches)


def _batch(row: Any) -> Batch:
    return Batch(row.n, row.start_step, NOTHING if row.points is None else row.points)


def write_outcome(
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
    _keep_batches(
        database, connection, (ended.trial, ended.attempt), outcome.batches, outcome.first
    )
    if outcome.becomes in ENDED and _is_long(outcome.batches, outcome.first):
        _write_summary(connection, ended.trial)
    return True


def _keep_batches(
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
        insert_new(curve, database.sqlite),
        [
            {"trial": key[0], "attempt": key[1], "sequence": first + place, "points": points}
            for place, points in enumerate(batches)
        ],
    )


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
        _keep_batches(database, connection, key, batches, first)


def add_snapshot(database: Database, claim: Claim, step: int, path: str, sha256: str) -> None:
    """A snapshot was written; `path` is relative to the trial folder."""
    with database.writing() as connection:
        _pass_fence(connection, _FENCE, claim, {})
        connection.execute(
            insert_new(snapshot, database.sqlite),
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
        if write_outcome(database, connection, _END, ended, at=time.time(), fence=fence):
            return
        if not (_is_ended(connection, claim, outcome) or _is_own_end(connection, claim, outcome)):
            raise _loss(claim)


def _pass_fence(connection: Connection, statement: Any, claim: Claim, values: Any) -> None:
    fence = {"own_trial": claim.trial, "own_worker": claim.worker, "own_attempt": claim.attempt}
    if connection.execute(statement, {**fence, **values}).rowcount != 1:
        raise _loss(claim)


def _loss(claim: Claim) -> OutOfDate:
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
    end = (claim.worker, outcome.status, encode(outcome.reason), outcome.seconds)
    return row is not None and tuple(row) == end
