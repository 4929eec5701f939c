"""Launch decisions and baselines in the store: each points to the trials that it is about."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from tunewright.design.ranges import Value
from tunewright.errors import NotFound
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.journal import leave, place_data
from tunewright.store.results import Results
from tunewright.store.schema import baseline as baseline_table, launch, round_table, trial
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Place:
    """A trial by its round and number, with what was trained."""

    round: str
    trial: int
    configuration: Mapping[str, Value]

    @classmethod
    def of(cls, results: Results, trial: Trial) -> Place:
        """Where a trial was run."""
        round, number = trial.origin or (results.round.name, trial.number or 0)
        return cls(round, number, trial.configuration)

    def __str__(self) -> str:
        return f"{self.round} trial {self.trial}"


@dataclass(frozen=True)
class Launched:
    """One decision as it was recorded."""

    key: int
    written: datetime
    candidate: Place
    baseline: Place | None  # none: the first baseline, which had nothing to be compared with
    verdict: str
    decision: Mapping[str, Any]  # the Launch as plain data: probability, gain, values, reasons
    who: str
    why: str
    goal: str  # of the round that found the candidate
    commit: str

    @property
    def compared(self) -> bool:
        """Whether it rests on runs of both, rather than on what forbade to run them."""
        return all(self.decision.get(f"{arm}_values") for arm in ("candidate", "baseline"))

    @property
    def pair(self) -> tuple[tuple[str, int], ...]:
        """The (round, trial) pairs that were compared."""
        places = [self.candidate, self.baseline]
        return tuple((place.round, place.trial) for place in places if place is not None)


@dataclass(frozen=True)
class Baseline:
    """What the next candidate has to beat."""

    written: datetime
    place: Place
    launch: int  # the key of the decision that made it so; 0: that was lost
    runs: int  # repeats of it that decided: a winner by noise is harder to beat


@dataclass(frozen=True)
class Receipt:
    """Who decided, why, for which question and from which code."""

    who: str
    why: str
    goal: str
    commit: str


def add(
    database: Database,
    decision: Mapping[str, Any],
    candidate: Place,
    against: Place | None,
    receipt: Receipt,
) -> int:
    """Record a decision; its key."""
    with database.writing() as connection:
        own, round_id = _trial(connection, candidate)
        values = {
            "candidate": own,
            "round": round_id,
            "baseline": None if against is None else _trial(connection, against)[0],
            "verdict": str(decision.get("verdict", "")),
            "method": str(decision.get("method", "")),
            "decision": plain_json.dumps(plain_json.finite(dict(decision))),
            "who": storable(receipt.who),
            "why": storable(receipt.why, LONGEST_TEXT),
            "goal": storable(receipt.goal, LONGEST_TEXT),
            "commit": storable(receipt.commit),
            "written": time.time(),
        }
        (key,) = connection.execute(insert(launch).values(values)).inserted_primary_key or (0,)
        database.afterwards(lambda: leave(database))
    return int(key)


def add_baseline(database: Database, launch_id: int, runs: int) -> None:
    """Make the candidate of a decision the baseline from now on."""
    with database.writing() as connection:
        chosen = select(launch.c.candidate).where(launch.c.id == launch_id)
        own = connection.execute(chosen).scalar_one()
        values = {"trial": own, "launch": launch_id, "runs": runs, "written": time.time()}
        connection.execute(insert(baseline_table).values(values))
        database.afterwards(lambda: leave(database))


def read(database: Database) -> list[Launched]:
    """Every decision, oldest first."""
    with database.reading() as connection, plain_json.as_written("a launch of the store"):
        rows = connection.execute(select(launch).order_by(launch.c.id)).all()
        return [
            Launched(
                row.id,
                _when(row.written),
                _place(connection, row.candidate, row.elsewhere, "candidate") or _NOWHERE,
                _place(connection, row.baseline, row.elsewhere, "baseline"),
                row.verdict,
                plain_json.loads_object(row.decision, f"launch {row.id} of the store"),
                row.who,
                row.why,
                row.goal,
                row.commit,
            )
            for row in rows
        ]


def read_baselines(database: Database) -> list[Baseline]:
    """Every baseline, oldest first: the lineage of the best configuration."""
    with database.reading() as connection, plain_json.as_written("a baseline of the store"):
        rows = connection.execute(select(baseline_table).order_by(baseline_table.c.id)).all()
        return [
            Baseline(
                _when(row.written),
                _place(connection, row.trial, row.elsewhere, "trial") or _NOWHERE,
                row.launch or 0,
                row.runs,
            )
            for row in rows
        ]


_NOWHERE = Place("", 0, {})


def _trial(connection: Connection, place: Place) -> tuple[int, int]:
    """The keys of a trial and of its round."""
    chosen = (
        select(trial.c.id, trial.c.round)
        .join(round_table, round_table.c.id == trial.c.round)
        .where(round_table.c.name == place.round, trial.c.number == place.trial)
    )
    row = connection.execute(chosen).first()
    if row is None:
        raise NotFound("launch.no_such_trial", trial=place.trial, round=place.round)
    return int(row.id), int(row.round)


def _place(connection: Connection, key: int | None, elsewhere: str, column: str) -> Place | None:
    """Where a trial stands, by its key, or by what is known of one that this store lacks."""
    data = place_data(connection, key)
    if data is None and elsewhere:
        data = plain_json.loads_object(elsewhere, "a place of the store").get(column)
    if data is None:
        return None
    settings = dict(data.get("configuration") or {})
    return Place(str(data.get("round", "")), int(data.get("trial") or 0), settings)


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
