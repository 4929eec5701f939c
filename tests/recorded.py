"""A small round as recorded, made by hand: for tests of the pages."""

from __future__ import annotations

import math

from tests.told import ROUND

from tunewright.design.objective import minimize
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.judge import not_finite
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# (study, learning rate, valid errors) in the order of the numbers; none: it diverged
OUTCOMES = [
    (0, 0.001, [0.9, 0.5, 0.4]),
    (1, 0.001, [0.9, 0.6, 0.55]),
    (0, 0.0130001, [0.8, 0.202377, 0.21]),
    (1, 0.0130001, [0.8, 0.3, 0.31]),
    (0, 0.09, None),
    (1, 0.09, None),
]


def results(failed: bool = False, pending: bool = False, notes: tuple[str, ...] = ()) -> Results:
    trials = []
    for number, (study, rate, errors) in enumerate(OUTCOMES):
        curves = Curves([Batch(1, 0, pack({"valid_error": ([10, 20, 30], errors)}))])
        trials.append(
            Trial(
                number=number,
                study=study,
                index=number // 2,
                configuration={
                    "weight_decay": [0.0, 1e-4][study],
                    "learning_rate": rate,
                    "max_train_steps": 100,
                },
                unit={"learning_rate": 0.5},
                status="completed" if errors else "infeasible",
                reason=None if errors else not_finite("train_loss", math.nan, number + 3),
                curves=curves if errors else Curves(()),
                seed=17,
                attempts=1,
                seconds=10.0,
                command="python train.py --lr=0.013",
                identity=number + 1,
                folder=f"r1/t{number:06d}",
            )
        )
    if failed:
        error = Message("trial.raised", {"type": "ValueError", "text": "no such file"})
        trials.append(
            Trial(
                number=6,
                study=0,
                index=3,
                configuration={},
                unit={},
                status="failed",
                reason=error,
                attempts=1,
                detail=f"Traceback\n{error}\n",
            )
        )
    if pending:
        trials.append(
            Trial(number=7, study=1, index=3, configuration={}, unit={}, status="pending")
        )
    made = Results.from_parts(ROUND, minimize("valid_error"), trials)
    return Results(**{**vars(made), "notes": notes, "root": "tuning.db.trials"})
