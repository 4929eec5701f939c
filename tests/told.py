"""What a supervisor tells, made by hand: for tests of what people see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.progress.watcher import Concluded, Reached, RoundStarted, Started
from tunewright.store.outcome import End, Outcome
from tunewright.store.trial import Claim

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


def claim(number: int | None, rate: float = 0.0130001, attempt: int = 1) -> Claim:
    about = {"trial": 0, "study": 0, "index": None, "unit": {}, "seed": 0, "folder": ""}
    tried = {"configuration": configuration(rate), "attempt": attempt}
    return Claim(number=number, **about, **tried)


def started(number: int | None, rate: float = 0.0130001, attempt: int = 1) -> Started:
    return Started(claim(number, rate, attempt), running=1)


def reached(
    number: int | None, step: int, total: int | None = 100, trial: int = 0, **more: Any
) -> Reached:
    return Reached(replace(claim(number), trial=trial), step, total=total, **more)


def concluded(
    number: int | None,
    status: End = "completed",
    value: float | None = None,
    reason: Message | None = None,
    rate: float = 0.0130001,
    seconds: float = 10.0,
) -> Concluded:
    outcome = Outcome(status, reason, seconds=seconds)
    return Concluded(claim(number, rate), outcome, value, running=0)


def configuration(rate: float) -> dict[str, float | int]:
    return {"weight_decay": 0.0, "learning_rate": rate, "max_train_steps": 100}
