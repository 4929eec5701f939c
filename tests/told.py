"""What a supervisor tells, made by hand: for tests of what people see."""

from __future__ import annotations

from dataclasses import dataclass, field

from tunewright.design.objective import Objective, minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.watcher import Concluded, Started
from tunewright.messages import Message
from tunewright.store.trial import Status

ROUND = Round(
    "weight_decay",
    goal="Does weight decay help?",
    scientific={"weight_decay": [0.0, 1e-4]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"max_train_steps": 100},
    trials_per_study=5,
)


@dataclass(frozen=True)
class Record:
    """The fields of a recorded round that a watcher looks at."""

    round: Round = ROUND
    objective: Objective = field(default_factory=lambda: minimize("valid_error"))
    counts: dict[str, int] = field(default_factory=dict)
    continued: bool = False

    @property
    def name(self) -> str:
        return self.round.name


def started(number: int | None, rate: float = 0.0130001, attempt: int = 1) -> Started:
    return Started(number, 0, attempt, configuration(rate), running=1)


def concluded(
    number: int | None,
    status: Status = "completed",
    value: float | None = None,
    reason: Message | None = None,
    rate: float = 0.0130001,
    seconds: float = 10.0,
) -> Concluded:
    return Concluded(number, 0, 1, configuration(rate), status, reason, value, seconds, running=0)


def configuration(rate: float) -> dict[str, float | int]:
    return {"weight_decay": 0.0, "learning_rate": rate, "max_train_steps": 100}
