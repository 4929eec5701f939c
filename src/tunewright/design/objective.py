"""The objective: which metric, in which direction, at which step, under which constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from tunewright.design.ranges import is_number
from tunewright.errors import DesignError

Relation = Literal["<=", ">="]
At = Literal["best", "last"]  # which value of a curve counts; `store/judge.py` finds it
PLACES: tuple[At, ...] = get_args(At)


@dataclass(frozen=True)
class Objective:
    """What a round tunes for. All logged metrics are kept, so it can be changed afterwards."""

    metric: str  # the name under which it is logged
    minimize: bool  # whether a lower value is better
    at: At = "best"  # best over training: retrospective checkpoint selection
    # constraints on other metrics: {"latency_ms": ("<=", 20)}
    subject_to: Mapping[str, tuple[Relation, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        verb = "minimize" if self.minimize else "maximize"
        if not isinstance(self.metric, str) or not self.metric.strip():
            raise DesignError("objective.no_metric", verb=verb, metric=self.metric)
        if self.at not in PLACES:
            raise DesignError("objective.bad_at", verb=verb, at=self.at)
        if not isinstance(self.subject_to, Mapping):
            raise DesignError("objective.constraints_not_mapping", subject_to=self.subject_to)
        for name, constraint in self.subject_to.items():
            if (
                not isinstance(constraint, tuple | list)
                or len(constraint) != 2
                or constraint[0] not in ("<=", ">=")
                or not is_number(constraint[1])
            ):
                raise DesignError("objective.bad_constraint", name=name, constraint=constraint)
        # a list from a file means the same as a tuple from a program
        object.__setattr__(
            self, "subject_to", {n: (r, float(limit)) for n, (r, limit) in self.subject_to.items()}
        )

    def better(self, a: float, b: float) -> bool:
        """Whether a is strictly better than b."""
        return a < b if self.minimize else a > b

    @property
    def sign(self) -> float:
        """+1 when larger is better, -1 when smaller is: multiply to orient."""
        return -1.0 if self.minimize else 1.0

    def __str__(self) -> str:
        verb = "minimize" if self.minimize else "maximize"
        limits = "".join(f", {n} {r} {limit:g}" for n, (r, limit) in self.subject_to.items())
        return f"{verb} {self.metric} ({self.at}{limits})"


def minimize(
    metric: str,
    at: At = "best",
    subject_to: Mapping[str, tuple[Relation, float]] | None = None,
) -> Objective:
    """Tune for the smallest value of a metric.

    Args:
        metric: the name under which the training program logs it.
        at: "best": the smallest value of the curve; "last": the value at the last step.
        subject_to: constraints: another metric -> a relation and its limit.

    >>> print(minimize("valid_error", subject_to={"latency_ms": ("<=", 20)}))
    minimize valid_error (best, latency_ms <= 20)
    """
    return Objective(metric, True, at, subject_to or {})


def maximize(
    metric: str,
    at: At = "best",
    subject_to: Mapping[str, tuple[Relation, float]] | None = None,
) -> Objective:
    """Tune for the largest value of a metric.

    Args:
        metric: the name under which the training program logs it.
        at: "best": the largest value of the curve; "last": the value at the last step.
        subject_to: constraints: another metric -> a relation and its limit.

    >>> print(maximize("accuracy", at="last"))
    maximize accuracy (last)
    """
    return Objective(metric, False, at, subject_to or {})
