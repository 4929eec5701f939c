"""Small rounds, searches and stores that the tests of the record share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Table, select

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.outcome import Outcome
from tunewright.store.results import Results
from tunewright.store.store import Claim, RoundRecord, Store, Worker
from tunewright.store.trial import Trial

OBJECTIVE = minimize("valid_error")
KILLED = Message("program.exited", {"status": -9, "signal": "SIGKILL"})
STOPPED = Message("stopped.asked")


@dataclass(frozen=True)
class Point:
    configuration: Mapping[str, Any]
    unit: Mapping[str, float] = field(default_factory=dict)


def a_round(name: str = "depth", **changes: Any) -> Round:
    parts: dict[str, Any] = {
        "goal": "Do more layers help?",
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": log(1e-4, 1e-1)},
        "fixed": {"batch_size": 128},
        "trials_per_study": 3,
    }
    return Round(name, **{**parts, **changes})


def points(study: Study, count: int) -> Sequence[Point]:
    """A search whose prefixes agree: index i has a position that depends on i alone."""
    units = [
        {h.column: (0.381966 * (i + 1) + 0.1 * d) % 1.0 for d, h in enumerate(study.space)}
        for i in range(count)
    ]
    return [Point(study.configuration(unit), unit) for unit in units]


def begin(
    store: Store,
    round: Round | None = None,
    objective: Objective = OBJECTIVE,
    search: str = "halton",
    suggestions: Any = points,
    **more: Any,
) -> RoundRecord:
    return store.begin(
        a_round() if round is None else round,
        objective,
        Meaning(),
        search=search,
        suggestions=suggestions,
        **more,
    )


def begun(store: Store, round: Round | None = None) -> tuple[RoundRecord, Worker]:
    record = begin(store, round)
    return record, store.register(record.id, "session", exclusive=False)


def curve(*values: float, metric: str = "valid_error", first: int = 1) -> bytes:
    return pack({metric: (range(first, first + len(values)), values)})


def complete(store: Store, claim: Claim, *values: float) -> None:
    store.end(claim, Outcome("completed", batches=[curve(*(values or (0.5,)))], seconds=1.0))


def rows(store: Store, table: Table) -> list[dict[str, Any]]:
    """Every row of a table, as the database has it."""
    with store._database.reading() as connection:
        found = connection.execute(select(table).order_by(table.c.id))
        return [dict(row) for row in found.mappings()]


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )


def a_trial(number: int | None, value: float, **changes: Any) -> Trial:
    """A trial of `a_round` that completed with this objective at step 2."""
    points = {"valid_error": ([1, 2], [0.9, value]), "accuracy": ([1, 2], [0.1, 1 - value])}
    place = number or 0
    parts: dict[str, Any] = {
        "study": place % 2,
        "index": place // 2,
        "configuration": {"layers": 1 + place % 2, "learning_rate": 0.1, "batch_size": 128},
        "unit": {},
        "status": "completed",
        "curves": Curves([Batch(1, 0, pack(points))]),
    }
    return Trial(number=number, **{**parts, **changes})


def some_results() -> Results:
    """Six trials, the fourth diverged and the fifth best, which has two repeats."""
    values = [0.5, 0.4, 0.3, float("nan"), 0.2, 0.6]
    trials = [a_trial(number, value) for number, value in enumerate(values)]
    repeats = [a_trial(None, value, parent=4) for value in (0.25, 0.15)]
    return Results.from_parts(a_round(), OBJECTIVE, reversed(trials), repeats)
