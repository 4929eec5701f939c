"""Results to export and import again, shared by the tests of the importers."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st
from tests.strategies import rounds

from tunewright.design.objective import minimize
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

OBJECTIVE = minimize("valid_error")
REASONS = (
    None,
    Message("memory.exhausted", {"type": "MemoryError", "text": ""}),
    Message("trial.failed", {"text": "the objective valid_error was never logged"}),
)


@st.composite
def results(draw: st.DrawFn) -> Results:
    """Recorded results of any round: every status, with and without curves."""
    round = draw(rounds())
    trials = []
    for study in round.studies[:4]:
        for index in range(draw(st.integers(1, 3))):
            unit = {h.column: draw(st.floats(0, 1)) for h in study.space}
            configuration = study.configuration(unit)
            status = draw(st.sampled_from(["completed", "infeasible", "failed", "pruned"]))
            count = draw(st.integers(1 if status == "completed" else 0, 3))
            values = draw(st.lists(st.floats(), min_size=count, max_size=count))
            points = {"valid_error": (range(5, 5 + count), values)} if count else {}
            trials.append(
                Trial(
                    number=study.trial_number(index),
                    study=study.number,
                    index=index,
                    configuration=configuration,
                    unit={},
                    status=status,
                    reason=None if status == "completed" else draw(st.sampled_from(REASONS)),
                    curves=Curves([Batch(1, 0, pack(points))] if points else []),
                    seed=draw(st.integers(0, 2**31 - 1)),
                    seconds=draw(st.floats(0, 1e6)),
                )
            )
    return Results.from_parts(round, OBJECTIVE, trials)


def told(results: Results) -> list[Any]:
    """Everything of the trials that must survive, in a form that can be compared."""
    return [
        (
            trial.number,
            trial.study,
            trial.index,
            dict(trial.configuration),
            trial.status,
            trial.reason,
            trial.value,
            trial.best_step,
            trial.seed,
            trial.seconds,
            {
                metric: (curve.steps.tolist(), [_comparable(v) for v in curve.values])
                for metric, curve in trial.curves.items()
            },
        )
        for trial in results.trials
    ]


def _comparable(value: float) -> float | str:
    return "nan" if math.isnan(value) else float(value)
