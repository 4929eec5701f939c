"""What was measured of a trial after its training had ended: offline evaluations, as metrics.

The numbers join the trial's curves at the step of the checkpoint, so that an objective, a plot or
an export finds them like any other metric. A row next to them has what measured them, and whether
that was a look at the test set.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, insert, select

from tunewright.errors import StoreError
from tunewright.measured import Measured
from tunewright.store import plain_json
from tunewright.store.database import Database
from tunewright.store.journal import leave
from tunewright.store.metrics import metrics_data, metrics_from, packed_metrics
from tunewright.store.schema import curve, evaluation as table, trial
from tunewright.store.storable import LONGEST_TEXT, storable
from tunewright.store.trial import ENDED


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


def add(database: Database, round_id: int, evaluation: Evaluation) -> None:
    """Add the metrics to the trial's curves, and the evaluation to the store, together."""
    points = packed_metrics(evaluation.step, evaluation.metrics)
    with database.writing() as connection:
        ended = select(trial.c.attempt).where(
            trial.c.id == evaluation.trial, trial.c.status.in_(ENDED)
        )
        attempt = connection.execute(ended.with_for_update()).scalar()
        if attempt is None:
            raise StoreError("evaluation.trial_not_ended", trial=evaluation.number)
        last = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
            curve.c.trial == evaluation.trial, curve.c.attempt == attempt
        )
        values = {
            "trial": evaluation.trial,
            "attempt": attempt,
            "sequence": connection.execute(last).scalar_one(),
            "points": points,
        }
        connection.execute(insert(curve).values(values))
        connection.execute(insert(table).values(_row(round_id, evaluation)))
        database.afterwards(lambda: leave(database))


def read(database: Database, round_id: int | None = None) -> list[Evaluation]:
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
    return max((one.look for one in evaluations if one.workload == workload), default=0)


def _row(round_id: int, own: Evaluation) -> dict[str, Any]:
    return {
        "trial": own.trial,
        "round": round_id,
        "step": own.step,
        "metrics": plain_json.dumps(plain_json.finite(metrics_data(own.metrics))),
        "measured_by": storable(own.with_, LONGEST_TEXT),
        "workload": storable(own.workload, LONGEST_TEXT),
        "objective": storable(own.objective),
        "value": plain_json.finite(own.value),
        "look": own.look,
        "written": time.time(),
    }


def _evaluation(row: Any) -> Evaluation:
    # NaN and infinities are null here; the curve has them as they were
    told = plain_json.loads_object(row.metrics, f"evaluation {row.id} of the store")
    return Evaluation(
        row.trial or 0,
        row.numbered,
        row.step,
        metrics_from(told),
        row.measured_by,
        row.workload,
        row.objective,
        row.value,
        row.look,
        datetime.fromtimestamp(row.written, UTC),
    )
