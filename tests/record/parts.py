"""Small rounds, searches and stores that the tests of the record share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunewright.design.meaning import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.design.round import Round
from tunewright.design.space import log
from tunewright.design.study import Study
from tunewright.record.curve import pack
from tunewright.record.store import Claim, RoundRecord, Store, Worker

OBJECTIVE = minimize("valid_error")


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
    store.finish(claim, "completed", "", last=[curve(*(values or (0.5,)))], seconds=1.0)


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
