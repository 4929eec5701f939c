"""Launch decisions, baselines and offline evaluations in the store, each with its trials.

The numbers of an evaluation join the trial's curves at the step of the checkpoint, so that an
objective, a plot or an export finds them like any other metric. A row next to them has what
measured them, and whether that was a look at the test set.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from tunewright.design.ranges import Value
from tunewright.errors import NotFound, StoreError
from tunewright.measured import Measured
from tunewright.store import plain_json
from tunewright.store.curves import metrics_data, metrics_from, packed_metrics
from tunewright.store.database import Database, when
from tunewright.store.journal import add_batch, leave, place_data
from tunewright.store.plain_json import LONGEST_TEXT, storable
from tunewright.store.results import Results
from tunewright.store.schema import (
    baseline as baseline_table,
    evaluation as table,
    launch,
    round_table,
    trial,
)
from tunewright.store.trial import ENDED, Trial


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
        trial_id, round_id = _trial(connection, candidate)
        values = {
            "candidate": trial_id,
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
        trial_id = connection.execute(chosen).scalar_one()
        values = {"trial": trial_id, "launch": launch_id, "runs": runs, "written": time.time()}
        connection.execute(insert(baseline_table).values(values))
        database.afterwards(lambda: leave(database))


def read(database: Database) -> list[Launched]:
    """Every decision, oldest first."""
    with database.reading() as connection, plain_json.as_written("a launch of the store"):
        rows = connection.execute(select(launch).order_by(launch.c.id)).all()
        return [
            Launched(
                key=row.id,
                written=when(row.written),
                candidate=_place(connection, row.candidate, row.elsewhere, "candidate") or _NOWHERE,
                baseline=_place(connection, row.baseline, row.elsewhere, "baseline"),
                verdict=row.verdict,
                decision=plain_json.loads_object(row.decision, f"launch {row.id} of the store"),
                who=row.who,
                why=row.why,
                goal=row.goal,
                commit=row.commit,
            )
            for row in rows
        ]


def read_baselines(database: Database) -> list[Baseline]:
    """Every baseline, oldest first: the lineage of the best configuration."""
    with database.reading() as connection, plain_json.as_written("a baseline of the store"):
        rows = connection.execute(select(baseline_table).order_by(baseline_table.c.id)).all()
        return [
            Baseline(
                when(row.written),
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


@dataclass(frozen=True)
class Evaluation:
    """One checkpoint, measured offline."""

    trial: int  # the store's key of the trial
    number: int | None  # its number in the round; None: a repeat
    step: int  # of the checkpoint
    metrics: Mapping[str, float | Measured]
    with_: str  # the function or command that measured it
    workload: str  # what was trained
    objective: str  # the metric that chose the checkpoint
    value: float | None  # and its value there, as training saw it
    look: int = 0  # at the test set: the workload's first, second ...; 0: it did not look there
    when: datetime | None = None  # None until it is stored


def add_evaluation(database: Database, round_id: int, evaluation: Evaluation) -> None:
    """Add the metrics to the trial's curves, and the evaluation to the store, together."""
    points = packed_metrics(evaluation.step, evaluation.metrics)
    with database.writing() as connection:
        ended = select(trial.c.attempt).where(
            trial.c.id == evaluation.trial, trial.c.status.in_(ENDED)
        )
        attempt = connection.execute(ended.with_for_update()).scalar()
        if attempt is None:
            raise StoreError("evaluation.trial_not_ended", trial=evaluation.number)
        add_batch(connection, evaluation.trial, attempt, points)
        connection.execute(insert(table).values(_row(round_id, evaluation)))
        database.afterwards(lambda: leave(database))


def read_evaluations(database: Database, round_id: int | None = None) -> list[Evaluation]:
    """The evaluations of one round or of all, oldest first."""
    chosen = (
        select(table, trial.c.number.label("numbered"))
        .outerjoin(trial, trial.c.id == table.c.trial)
        .order_by(table.c.id)
    )
    if round_id is not None:
        chosen = chosen.where(table.c.round == round_id)
    with database.reading() as connection, plain_json.as_written("an evaluation of the store"):
        return [_evaluation(row) for row in connection.execute(chosen)]


def looks(evaluations: Iterable[Evaluation], workload: str) -> int:
    """How often the test set was looked at for a workload."""
    return max((each.look for each in evaluations if each.workload == workload), default=0)


def _row(round_id: int, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "trial": evaluation.trial,
        "round": round_id,
        "step": evaluation.step,
        "metrics": plain_json.dumps(plain_json.finite(metrics_data(evaluation.metrics))),
        "measured_by": storable(evaluation.with_, LONGEST_TEXT),
        "workload": storable(evaluation.workload, LONGEST_TEXT),
        "objective": storable(evaluation.objective),
        "value": plain_json.finite(evaluation.value),
        "look": evaluation.look,
        "written": time.time(),
    }


def _evaluation(row: Any) -> Evaluation:
    # NaN and infinities are null here; the curve has them as they were
    metrics = plain_json.loads_object(row.metrics, f"evaluation {row.id} of the store")
    return Evaluation(
        trial=row.trial or 0,
        number=row.numbered,
        step=row.step,
        metrics=metrics_from(metrics),
        with_=row.measured_by,
        workload=row.workload,
        objective=row.objective,
        value=row.value,
        look=row.look,
        when=when(row.written),
    )
