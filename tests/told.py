"""What a supervisor tells, made by hand: for tests of what people see."""

from __future__ import annotations

from typing import Any

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.progress.watcher import Concluded, Reached, RoundStarted, Started
from tunewright.store.trial import Status

ROUND = Round(
    "weight_decay",
    goal="Does weight decay help?",
    scientific={"weight_decay": [0.0, 1e-4]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"max_train_steps": 100},
    trials_per_study=5,
)
FIXED = ("max_train_steps",)


def begun(total: int, done: int = 0, **more: Any) -> RoundStarted:
    about = {"name": ROUND.name, "objective": str(minimize("valid_error")), "metric": "valid_error"}
    return RoundStarted(**{**about, "total": total, "done": done, "fixed": FIXED, **more})


def started(number: int | None, rate: float = 0.0130001, attempt: int = 1) -> Started:
    return Started(
        number=number, study=0, attempt=attempt, configuration=configuration(rate), running=1
    )


def reached(number: int | None, step: int, total: int | None = 100, **more: Any) -> Reached:
    return Reached(number=number, study=0, attempt=1, step=step, total=total, **more)


def concluded(
    number: int | None,
    status: Status = "completed",
    value: float | None = None,
    reason: Message | None = None,
    rate: float = 0.0130001,
    seconds: float = 10.0,
) -> Concluded:
    return Concluded(
        number=number,
        study=0,
        attempt=1,
        configuration=configuration(rate),
        status=status,
        reason=reason,
        value=value,
        seconds=seconds,
        running=0,
    )


def configuration(rate: float) -> dict[str, float | int]:
    return {"weight_decay": 0.0, "learning_rate": rate, "max_train_steps": 100}
