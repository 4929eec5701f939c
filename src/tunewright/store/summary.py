"""Summaries of ended trials: the judged value and bucketed curves, written when a trial ends.

A page that shows ten thousand trials reads these instead of thirty million points. A summary is a
cache: a trial without one is read from its curves, which is as quick where they are short, so that
short trials have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, insert, select

from tunewright.design.objective import Objective
from tunewright.store import plain_json
from tunewright.store.curves import Batch, Curve, Curves, unpack
from tunewright.store.definition import objective_from
from tunewright.store.judge import judge
from tunewright.store.read_round import NOTHING, POINTS
from tunewright.store.reason import decode
from tunewright.store.schema import attempt, curve_summary, round_table, trial, trial_summary

BUCKETS = 250
SHORT = 16 * 1024  # bytes of packed points below which a trial is read from its curves
AT_ONCE = 500  # keys that both databases take in one query
_OWN = (
    select(trial.c.status, trial.c.reason, round_table.c.objective)
    .join(round_table, round_table.c.id == trial.c.round)
    .where(trial.c.id == bindparam("own"))
)
_OWN_POINTS = POINTS.where(attempt.c.trial == bindparam("own"))
_FORGET = tuple(
    delete(table).where(table.c.trial == bindparam("own"))
    for table in (trial_summary, curve_summary)
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


def is_long(batches: Sequence[bytes], first: int | None) -> bool:
    """Whether a trial that ends with these batches may have long curves."""
    return first is None or first > 0 or sum(map(len, batches)) > SHORT


def write(connection: Connection, key: int) -> None:
    """Write the summary of a trial that has just ended, in the transaction that ends it."""
    batches = [_batch(row) for row in connection.execute(_OWN_POINTS, {"own": key})]
    for statement in _FORGET:
        connection.execute(statement, {"own": key})
    if sum(len(batch.points) for batch in batches) <= SHORT:
        return
    own = connection.execute(_OWN, {"own": key}).one()
    objective = objective_from(plain_json.loads(own.objective, f"the round of trial {key}"))
    curves = Curves(batches)
    verdict = judge(objective, own.status, decode(own.reason), curves)
    connection.execute(
        insert(trial_summary).values(
            trial=key, status=verdict.status, value=verdict.value, step=verdict.best_step
        )
    )
    made = [
        {"trial": key, "metric": name, "last": reduced.last, "buckets": packed(reduced)}
        for name, reduced in ((name, reduce(points)) for name, points in curves.items())
    ]
    if made:
        connection.execute(insert(curve_summary), made)


def packed(reduced: Buckets) -> bytes:
    """Lowest values, then highest, as little-endian float32."""
    return np.concatenate([reduced.low, reduced.high]).astype("<f4").tobytes()


def unpacked(last: int, data: bytes) -> Buckets | None:
    """Read buckets back; None when the bytes are not what `packed` wrote."""
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


def judged_rows(
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
        kept, have = (one.where(trial.c.id.in_(sorted(wanted))) for one in (kept, have))
    summarised = set(connection.execute(have.where(trial.c.round == round_id)).scalars())
    for row in connection.execute(kept):
        if wanted is None or row.trial in wanted:
            reduced = unpacked(row.last, row.buckets)
            if reduced is not None:
                yield row.trial, reduced
    for key, curves in curves_of(connection, round_id, wanted, summarised):
        own = curves.only(metric)
        if own is not None and len(own):
            yield key, reduce(own)


def curves_of(
    connection: Connection,
    round_id: int,
    only: Iterable[int] | None,
    without: Iterable[int] = (),
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


def last_step(points: bytes) -> int:
    """The largest step of a batch; 0 for one without points."""
    return max((int(own.steps[-1]) for own in unpack(points).values() if len(own)), default=0)


def _batch(row: Any) -> Batch:
    return Batch(row.n, row.start_step, NOTHING if row.points is None else row.points)
