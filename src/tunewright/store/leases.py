"""Leases: which owners of trials are alive, and taking back what dead ones held.

A lease belongs to a worker (one row per supervisor or ask-and-tell process), not to a trial. Its
beat is a counter, and an observer judges by its own monotonic clock how long that counter stood
still, so that no clock that jumps and no two clocks that differ can expire a live owner. An owner
on this machine whose process is gone is dead at once.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, delete, insert, literal_column, select, update

from tunewright.errors import Busy, OutOfDate, StoreError
from tunewright.messages import Message, words
from tunewright.remedies import JoinRound
from tunewright.store.database import Database
from tunewright.store.outcome import encode
from tunewright.store.schema import attempt, round_table, stop, trial, worker as worker_table
from tunewright.store.trial import Status

LEASE_S = 60.0
Kind = Literal["supervisor", "session", "worker"]
_SERVER_TIME: Any = literal_column("extract(epoch from clock_timestamp())")
_BEAT = (
    update(worker_table)
    .where(worker_table.c.id == bindparam("own"), worker_table.c.retired.is_(None))
    .values(beat=worker_table.c.beat + 1)
)


@dataclass(frozen=True)
class Process:
    """One process of one boot of one machine."""

    host: str
    boot: str  # the boot and its process namespace; empty where they are not known
    pid: int
    started: str  # in clock ticks since the boot; empty where it is not known


@lru_cache(maxsize=1)
def this_boot() -> str:
    """This machine's boot and process namespace: within one, a pid means one thing.

    Containers share the boot but not the pids, so the namespace is part of it.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def start_of(pid: int) -> str:
    """When this process began; empty if there is none, or it is not known."""
    fields = _stat(pid)
    return "" if not fields or fields[0] in "ZX" else fields[19]  # a zombie has ended already


def _stat(pid: int) -> list[str]:
    """What /proc has of a process, from its state on; empty if it has nothing."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    # the name in brackets may hold spaces and brackets itself; fields are counted after it
    return stat.rpartition(")")[2].split()


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    return Process(socket.gethostname(), this_boot(), pid, start_of(pid))


def has_ended(other: Process) -> bool:
    """Whether a process has certainly ended; False also when that is not known here."""
    here = (socket.gethostname(), this_boot())
    if not other.boot or not other.started or (other.host, other.boot) != here:
        return False  # machines cloned from one memory share the boot, but not the processes
    return start_of(other.pid) != other.started if _stat(other.pid) else not _exists(other.pid)


def _exists(pid: int) -> bool:
    """Whether there is such a process: /proc may hide those of other users (hidepid)."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@dataclass(frozen=True)
class Worker:
    """One process that may own trials: a supervisor, a joined worker, an ask-and-tell process."""

    id: int
    kind: Kind
    round: int | None
    process: Process


@dataclass(frozen=True)
class Reclaimed:
    """A trial taken back from an owner that is gone."""

    trial: int
    number: int | None
    attempt: int
    owner: str  # host and pid, for messages
    ended_as: Status | None = None  # its result was found in the trial folder and taken over


class LeaseWatch:
    """What one observer has seen of the others' beats, by its own monotonic clock."""

    def __init__(
        self, lease_s: float = LEASE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """An owner whose beat stands still for `lease_s` is dead."""
        self.lease_s = lease_s
        self._clock = clock
        self._seen: dict[int, tuple[int, float]] = {}  # worker -> its beat, since when
        self._looked: float | None = None
        self.suspects = False  # someone seems dead, and will be known to be after a while of looks

    def dead_workers(self, beats: Iterable[tuple[int, int, float]]) -> set[int]:
        """The workers of (key, beat, age) whose beat has stood still too long.

        `age` is how long ago the last beat was by a clock all share, 0 where there is none: with it
        a third of the lease is enough to watch, since that clock knows of the time before. Call it
        at least every lease / 3: an observer that was blind for longer (a store out of reach, a
        machine asleep) cannot tell who was beating meanwhile, and begins anew.
        """
        now = self._clock()
        if self._looked is not None and now - self._looked > self.lease_s / 3:
            self._seen.clear()
        self._looked = now
        dead, silent = set(), set()
        known: dict[int, tuple[int, float]] = {}
        for key, beat, age in beats:
            before = self._seen.get(key)
            known[key] = before if before is not None and before[0] == beat else (beat, now)
            still = now - known[key][1]
            if still >= self.lease_s or (age > self.lease_s and still >= self.lease_s / 3):
                dead.add(key)
            elif age > self.lease_s:
                silent.add(key)
        self._seen = known
        self.suspects = bool(silent)
        return dead


def register(
    database: Database,
    round_id: int | None,
    kind: Kind,
    exclusive: bool,
    lease_s: float = LEASE_S,
    *,
    replacing: Worker | None = None,
) -> Worker:
    """Add this process as a worker; an exclusive one is refused while another lives.

    An owner that seems dead by the wall clock alone is watched for a third of the lease first: the
    clock may have jumped, or the store may only just be back. Its beats must reach the store
    meanwhile, so a transaction around this call is refused. The worker that the new one is
    `replacing` retires in the same transaction: half of it would leave nobody on duty.
    """
    if exclusive and database.in_transaction:
        raise StoreError("lease.register_in_transaction")
    watch = LeaseWatch(lease_s)
    old = None if replacing is None else replacing.id
    beats: dict[int, int] = {}  # as they were first seen
    while True:
        with database.writing(durable=False) as connection:
            database.alone(connection)
            rivals_now = _rivals(database, connection, round_id) if exclusive else []
            rivals = [row for row in rivals_now if row.id != old]
            beating = {r.id for r in rivals if beats.setdefault(r.id, r.beat) != r.beat}
            dead = watch.dead_workers((row.id, row.beat, row.age) for row in rivals)
            live = [r for r in rivals if r.id not in dead and not gone_for_sure(database, r)]
            if not live:
                _retire(connection, [row.id for row in rivals] + ([] if old is None else [old]))
                return _insert(database, connection, round_id, kind, exclusive)
            for row in live:  # far off in either direction, the clock was set meanwhile
                if abs(row.age) <= lease_s or row.id in beating:
                    raise _busy(row, _name(connection, round_id))
        time.sleep(min(lease_s / 10, 1.0))


def beat(database: Database, worker: Worker) -> None:
    """Say that this worker lives; OutOfDate if it was taken for dead meanwhile."""
    with database.writing(durable=False) as connection:
        at = time.time() if database.sqlite else _SERVER_TIME
        done = connection.execute(_BEAT.values(beaten=at), {"own": worker.id})
        if done.rowcount != 1:
            raise OutOfDate("lease.taken_for_dead", kind=worker.kind, pid=worker.process.pid)


def retire(database: Database, worker: Worker) -> None:
    """Take this worker off the list; trials it still holds can be reclaimed at once."""
    with database.writing(durable=False) as connection:
        _retire(connection, [worker.id])


def dead_owners(database: Database, round_id: int, watch: LeaseWatch) -> dict[int, int]:
    """The dead owners of running trials, with the beat they were seen at last."""
    with database.reading() as connection:
        owners = _owners(database, connection, round_id)
    # a SQLite store has no clock, and this machine's may jump
    ages = (0.0 if database.sqlite else row.age for row in owners)
    beats = [(row.id, row.beat, age) for row, age in zip(owners, ages, strict=True)]
    dead = watch.dead_workers(beats)
    return {
        row.id: row.beat
        for row in owners
        if row.retired is not None or row.id in dead or gone_for_sure(database, row)
    }


def take_back(database: Database, round_id: int, dead: Mapping[int, int]) -> list[Reclaimed]:
    """Put the trials of dead owners back to pending; whoever has beaten since keeps its own."""
    with database.writing(durable=False) as connection:
        owners = {row.id: row for row in _owners(database, connection, round_id)}
        certain = [key for key, beat in dead.items() if key in owners and owners[key].beat == beat]
        _retire(connection, certain)
        return _return_to_pending(connection, round_id, {key: owners[key] for key in certain})


def _return_to_pending(
    connection: Connection, round_id: int, owners: Mapping[int, Any]
) -> list[Reclaimed]:
    rows = connection.execute(
        update(trial)
        .where(trial.c.round == round_id, trial.c.status == "running", trial.c.worker.in_(owners))
        .values(status="pending", reason=encode(Message("owner.lost")))
        .returning(trial.c.id, trial.c.number, trial.c.attempt, trial.c.worker)
    ).all()
    taken = []
    for row in rows:
        owner = owners[row.worker]
        named = f"{owner.host}, pid {owner.pid}"
        taken.append(Reclaimed(row.id, row.number, row.attempt, named))
        connection.execute(
            update(attempt)
            .where(attempt.c.trial == row.id, attempt.c.n == row.attempt)
            .values(outcome="lost", cause=encode(Message("owner.lost", {"owner": named})))
        )
    return sorted(taken, key=lambda reclaimed: reclaimed.trial)


def gone_for_sure(database: Database, row: Any) -> bool:
    """Whether a worker's process has certainly ended."""
    if (
        database.sqlite
        and row.boot
        and this_boot()
        and row.boot.split()[0] != this_boot().split()[0]
    ):
        return True  # a local file has one machine: who wrote under another boot went down with it
    return has_ended(Process(row.host, row.boot, row.pid, row.started))


def _age(database: Database) -> Any:
    now = literal_column(repr(time.time())) if database.sqlite else _SERVER_TIME
    return (now - worker_table.c.beaten).label("age")


def is_supervised(database: Database, connection: Connection, round_id: int) -> bool:
    """Whether a live process runs a round by itself, so that another `run` would be refused."""
    rivals = _rivals(database, connection, round_id)
    return any(abs(row.age) <= LEASE_S and not gone_for_sure(database, row) for row in rivals)


def _rivals(database: Database, connection: Connection, round_id: int | None) -> list[Any]:
    return list(
        connection.execute(
            select(worker_table, _age(database)).where(
                worker_table.c.round == round_id,
                worker_table.c.exclusive.is_(True),
                worker_table.c.retired.is_(None),
            )
        )
    )


def _owners(database: Database, connection: Connection, round_id: int) -> list[Any]:
    running = trial.c.status == literal_column("'running'")  # by its partial index
    holding = select(trial.c.worker).where(trial.c.round == round_id, running)
    return list(
        connection.execute(
            select(worker_table, _age(database)).where(worker_table.c.id.in_(holding))
        )
    )


def _retire(connection: Connection, keys: list[int]) -> None:
    if keys:
        connection.execute(
            update(worker_table)
            .where(worker_table.c.id.in_(keys), worker_table.c.retired.is_(None))
            .values(retired=time.time())
        )


def _insert(
    database: Database, connection: Connection, round_id: int | None, kind: Kind, exclusive: bool
) -> Worker:
    here = this_process()
    if exclusive:  # a stop request was meant for whoever ran then
        connection.execute(delete(stop).where(stop.c.round == round_id))
    now = time.time() if database.sqlite else _SERVER_TIME
    key = _add(connection, here, kind, round=round_id, exclusive=exclusive, beaten=now)
    return Worker(key, kind, round_id, here)


def add_retired(connection: Connection, host: str) -> int:
    """Insert a retired placeholder worker that owns imported trials; return its id."""
    nobody = Process(host, "", 0, "")
    return _add(connection, nobody, "worker", exclusive=False, beaten=0.0, retired=time.time())


def _add(connection: Connection, process: Process, kind: Kind, **values: Any) -> int:
    row = {**vars(process), **values, "kind": kind, "registered": time.time(), "beat": 0}
    (key,) = connection.execute(insert(worker_table).values(row)).inserted_primary_key or (0,)
    return int(key)


def _name(connection: Connection, round_id: int | None) -> str | None:
    """What the round is called; None for a worker of no round."""
    named = select(round_table.c.name).where(round_table.c.id == round_id)
    return connection.execute(named).scalar()


def _busy(row: Any, name: str | None) -> Busy:
    running = max(time.time() - row.registered, 0.0)
    return Busy(
        "round.busy",
        age=words.rough_duration(running),
        silent=words.rough_duration(max(row.age, 0.0)),
        round=name,
        kind=row.kind,
        host=row.host,
        pid=row.pid,
        seconds=running,
        silent_s=max(row.age, 0.0),
        remedy=None if name is None else JoinRound(name),
    )
