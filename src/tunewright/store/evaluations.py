"""What was measured of a trial after its training had ended: offline evaluations, as metrics.

The numbers join the trial's curves at the step of the checkpoint, so that an objective, a plot or
an export finds them like any other metric. A document beside them says what measured them, and
whether that was a look at the test set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update

from tunewright.errors import StoreError
from tunewright.store.curves import pack
from tunewright.store.database import Database
from tunewright.store.notes import Document, add_document, documents_of
from tunewright.store.schema import curve, trial
from tunewright.store.trial import ENDED

KIND = "evaluation"


@dataclass(frozen=True)
class Evaluation:
    """One checkpoint, measured offline."""

    trial: int  # the record's identity of the trial
    number: int | None  # its number in the round; None: a repeat
    step: int  # of the checkpoint
    metrics: Mapping[str, float]
    with_: str  # the function or command that measured it
    workload: str  # what was trained
    objective: str  # the metric that chose the checkpoint
    value: float | None  # and its value there, as training saw it
    look: int = 0  # at the test set: the workload's first, second ...; 0: it did not look there
    when: datetime | None = None  # None until it is in the record


def keep(database: Database, round_id: int, evaluation: Evaluation) -> None:
    """Add the metrics to the trial's curves, and the evaluation to the record, together."""
    points = pack(
        {name: ([evaluation.step], [value]) for name, value in evaluation.metrics.items()}
    )
    with database.writing() as connection:
        now = database.revision()
        ended = connection.execute(
            update(trial)
            .where(trial.c.id == evaluation.trial, trial.c.status.in_(ENDED))
            .values(revision=now)
            .returning(trial.c.attempt)
        ).first()
        if ended is None:
            raise StoreError(
                f"trial {evaluation.number} has not ended, so its checkpoint is not chosen yet."
            )
        last = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
            curve.c.trial == evaluation.trial, curve.c.attempt == ended.attempt
        )
        values = {
            "trial": evaluation.trial,
            "attempt": ended.attempt,
            "sequence": connection.execute(last).scalar_one(),
            "points": points,
            "revision": now,
        }
        connection.execute(insert(curve).values(values))
        written = {name: value for name, value in asdict(evaluation).items() if name != "when"}
        add_document(database, "finding", round_id, {"kind": KIND, **written})


def read(database: Database, round_id: int | None = None) -> list[Evaluation]:
    """The evaluations of one round or of all, oldest first."""
    found = documents_of(database, "finding", round_id)
    return [_evaluation(one) for one in found if one.payload.get("kind") == KIND]


def looks(evaluations: Iterable[Evaluation], workload: str) -> int:
    """How often the test set was looked at for a workload."""
    return max((one.look for one in evaluations if one.workload == workload), default=0)


def _evaluation(document: Document) -> Evaluation:
    fields: dict[str, Any] = {n: v for n, v in document.payload.items() if n != "kind"}
    # what is no finite number is kept as null in documents; the curve has it as it was
    metrics = {n: float("nan") if v is None else v for n, v in fields["metrics"].items()}
    return Evaluation(**{**fields, "metrics": metrics, "when": document.written})
