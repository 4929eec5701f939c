"""Learning-rate schedules as pure data: the rate of update k is a function of k and nothing else.

Steps are updates, counted from 1. A schedule gives a factor of the base learning rate, so that the
base learning rate stays one hyperparameter (playbook, "What is the best learning rate decay
schedule family?": linear or cosine by default).

    Warmup(500, Cosine())                      500 warm-up steps within max_train_steps
    Warmup(500, Linear(), mode="prepend")      500 warm-up steps before them: the total grows
    WarmupStableDecay(500, decay_steps=2000)

A decay over D updates runs from 1 at its first update to `end_factor` just after its last one, so
that no update is spent at a rate of zero; a warm-up over w updates reaches 1 at update w.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from tunewright.errors import DesignError
from tunewright.nearest import nearest


class Schedule(Protocol):
    """What every schedule answers; all are frozen data classes of this file."""

    def factor(self, step: int, max_train_steps: int) -> float:
        """The share of the base learning rate that update `step` uses."""

    def learning_rate(self, step: int, base_learning_rate: float, max_train_steps: int) -> float:
        """The learning rate that update `step` uses."""

    def total_steps(self, max_train_steps: int) -> int:
        """How many updates the training makes; refuses a schedule that does not fit into them."""

    def as_json(self) -> dict[str, Any]:
        """The schedule as plain JSON; `from_json` gives it back."""


def _learning_rate(
    self: Schedule, step: int, base_learning_rate: float, max_train_steps: int
) -> float:
    """The learning rate that update `step` uses."""
    return base_learning_rate * self.factor(step, max_train_steps)


def _total_steps(self: Schedule, max_train_steps: int) -> int:
    """max_train_steps itself; refuses a schedule that does not fit into them."""
    if type(max_train_steps) is not int or max_train_steps < 1:
        raise DesignError("schedule.bad_total", max_train_steps=max_train_steps)
    self.factor(1, max_train_steps)
    return max_train_steps


def _as_json(self: Any) -> dict[str, Any]:
    """The schedule as plain JSON; `from_json` gives it back."""
    return {"schedule": _NAMES[type(self)], **asdict(self)}


@dataclass(frozen=True)
class Constant:
    """The base learning rate throughout.

    >>> Constant().learning_rate(7, base_learning_rate=0.1, max_train_steps=10)
    0.1
    """

    learning_rate = _learning_rate
    total_steps = _total_steps
    as_json = _as_json

    def factor(self, step: int, max_train_steps: int) -> float:
        """1 at every step."""
        _check_step(step)
        return 1.0


@dataclass(frozen=True)
class Linear:
    """Constant, then a straight line down over the last `decay_steps` updates (None: over all).

    >>> [Linear().factor(step, 4) for step in (1, 2, 3, 4)]
    [1.0, 0.75, 0.5, 0.25]
    >>> [Linear(decay_steps=2, end_factor=0.5).factor(step, 4) for step in (1, 2, 3, 4)]
    [1.0, 1.0, 1.0, 0.75]
    """

    decay_steps: int | None = None
    end_factor: float = 0.0  # of the base learning rate, approached at the end

    learning_rate = _learning_rate
    total_steps = _total_steps
    as_json = _as_json

    def __post_init__(self) -> None:
        if self.decay_steps is not None:
            _check_count("Linear", "decay_steps", self.decay_steps, least=1)
        _check_share("Linear", "end_factor", self.end_factor)

    def factor(self, step: int, max_train_steps: int) -> float:
        """1, then falling to `end_factor` over the last `decay_steps`."""
        length = max_train_steps if self.decay_steps is None else self.decay_steps
        return _decay(lambda done: 1 - done, step, max_train_steps, length, self.end_factor)


@dataclass(frozen=True)
class Cosine:
    """Half a cosine wave down over the whole training.

    >>> [round(Cosine().factor(step, 4), 3) for step in (1, 2, 3, 4)]
    [1.0, 0.854, 0.5, 0.146]
    """

    end_factor: float = 0.0  # of the base rate, after the last step

    learning_rate = _learning_rate
    total_steps = _total_steps
    as_json = _as_json

    def __post_init__(self) -> None:
        _check_share("Cosine", "end_factor", self.end_factor)

    def factor(self, step: int, max_train_steps: int) -> float:
        """Falling from 1 to `end_factor` along a cosine."""
        return _decay(_half_cosine, step, max_train_steps, max_train_steps, self.end_factor)


@dataclass(frozen=True)
class Rsqrt:
    """Constant for `timescale` updates, then sqrt(timescale / step): blind to max_train_steps.

    >>> [Rsqrt(timescale=100).factor(step, 10_000) for step in (1, 100, 400, 10_000)]
    [1.0, 1.0, 0.5, 0.1]
    """

    timescale: int = 1

    learning_rate = _learning_rate
    total_steps = _total_steps
    as_json = _as_json

    def __post_init__(self) -> None:
        _check_count("Rsqrt", "timescale", self.timescale, least=1)

    def factor(self, step: int, max_train_steps: int) -> float:
        """1, then the reciprocal square root of the step."""
        _check_step(step)
        return math.sqrt(self.timescale / max(step, self.timescale))


@dataclass(frozen=True)
class Piecewise:
    """One factor up to each boundary step (included), and one after the last.

    >>> stairs = Piecewise(boundaries=(2, 3), factors=(1.0, 0.1, 0.01))
    >>> [stairs.factor(step, 5) for step in (1, 2, 3, 4, 5)]
    [1.0, 1.0, 0.1, 0.01, 0.01]
    """

    boundaries: tuple[int, ...]
    factors: tuple[float, ...]

    learning_rate = _learning_rate
    as_json = _as_json

    def __post_init__(self) -> None:
        # a list from a file means the same as a tuple from a program
        object.__setattr__(self, "boundaries", tuple(self.boundaries))
        object.__setattr__(self, "factors", tuple(self.factors))
        if len(self.factors) != len(self.boundaries) + 1:
            raise DesignError(
                "schedule.pieces",
                boundaries=len(self.boundaries),
                pieces=len(self.boundaries) + 1,
                factors=len(self.factors),
            )
        for boundary in self.boundaries:
            _check_count("Piecewise", "a boundary", boundary, least=1)
        if list(self.boundaries) != sorted(set(self.boundaries)):
            raise DesignError("schedule.boundaries_not_growing", boundaries=list(self.boundaries))
        for factor in self.factors:
            _check_number("Piecewise", "a factor", factor)

    def factor(self, step: int, max_train_steps: int) -> float:
        """The factor of the piece that the step lies in."""
        _check_step(step)
        return self.factors[sum(step > boundary for boundary in self.boundaries)]

    def total_steps(self, max_train_steps: int) -> int:
        """max_train_steps; refuses boundaries that training would never reach."""
        if self.boundaries and self.boundaries[-1] >= max_train_steps:
            raise DesignError(
                "schedule.boundary_never_passed",
                boundary=self.boundaries[-1],
                max_train_steps=max_train_steps,
            )
        return _total_steps(self, max_train_steps)


@dataclass(frozen=True)
class WarmupStableDecay:
    """Warm-up, a stable phase at the base rate, and a decay over the last `decay_steps` updates.

    >>> wsd = WarmupStableDecay(warmup_steps=2, decay_steps=2)
    >>> [wsd.factor(step, 6) for step in (1, 2, 3, 4, 5, 6)]
    [0.5, 1.0, 1.0, 1.0, 1.0, 0.5]
    """

    warmup_steps: int  # over which the rate rises linearly
    decay_steps: int  # at the end of training
    shape: Literal["linear", "cosine", "sqrt"] = "linear"  # sqrt: 1 - sqrt(part done)
    end_factor: float = 0.0  # of the base rate, after the last step

    learning_rate = _learning_rate
    total_steps = _total_steps
    as_json = _as_json

    def __post_init__(self) -> None:
        _check_count("WarmupStableDecay", "warmup_steps", self.warmup_steps, least=0)
        _check_count("WarmupStableDecay", "decay_steps", self.decay_steps, least=1)
        _check_share("WarmupStableDecay", "end_factor", self.end_factor)
        if self.shape not in _SHAPES:
            raise DesignError(
                "schedule.unknown_shape",
                shape=self.shape,
                near=_nearest(str(self.shape), _SHAPES),
                known=list(_SHAPES),
            )

    def factor(self, step: int, max_train_steps: int) -> float:
        """Rising to 1, staying there, falling to `end_factor`."""
        needed = self.warmup_steps + self.decay_steps
        if needed > max_train_steps:
            raise DesignError(
                "schedule.phases_too_long",
                warmup_steps=self.warmup_steps,
                decay_steps=self.decay_steps,
                needed=needed,
                max_train_steps=max_train_steps,
            )
        if step <= self.warmup_steps:
            _check_step(step)
            return step / self.warmup_steps
        shape, length = _SHAPES[self.shape], self.decay_steps
        return _decay(shape, step, max_train_steps, length, self.end_factor)


@dataclass(frozen=True)
class Warmup:
    """A straight line from 0 up to the base rate over `warmup_steps` updates, then `schedule`.

    Within: `schedule` has max_train_steps - warmup_steps updates, and the total stays. Prepend:
    `schedule` keeps all its max_train_steps, and the training is longer by warmup_steps, as in the
    playbook's warm-up experiment.

    >>> warm = Warmup(2, Linear(), mode="prepend")
    >>> warm.total_steps(4), [warm.factor(step, 4) for step in range(1, 7)]
    (6, [0.5, 1.0, 1.0, 0.75, 0.5, 0.25])
    """

    warmup_steps: int
    schedule: Schedule = Constant()
    mode: Literal["within", "prepend"] = "within"

    learning_rate = _learning_rate

    def __post_init__(self) -> None:
        _check_count("Warmup", "warmup_steps", self.warmup_steps, least=0)
        if self.mode not in ("within", "prepend"):
            raise DesignError("schedule.bad_warmup_mode", mode=self.mode)
        if isinstance(self.schedule, Warmup | WarmupStableDecay):
            raise DesignError("schedule.warmup_twice", schedule=type(self.schedule).__name__)

    def factor(self, step: int, max_train_steps: int) -> float:
        """Rising to 1 at `warmup_steps`, then the schedule's own factor of the steps after it."""
        _check_step(step)
        left = max_train_steps - (self.warmup_steps if self.mode == "within" else 0)
        if left < 1:
            raise DesignError(
                "schedule.warmup_too_long",
                warmup_steps=self.warmup_steps,
                max_train_steps=max_train_steps,
            )
        if step <= self.warmup_steps:
            return step / self.warmup_steps
        return self.schedule.factor(step - self.warmup_steps, left)

    def total_steps(self, max_train_steps: int) -> int:
        """max_train_steps, and the warm-up on top where it is prepended."""
        _total_steps(self, max_train_steps)
        within = self.mode == "within"
        left = max_train_steps - self.warmup_steps if within else max_train_steps
        return self.warmup_steps + self.schedule.total_steps(left)

    def as_json(self) -> dict[str, Any]:
        """The schedule as plain JSON; `from_json` gives it back."""
        return {
            "schedule": "warmup",
            "warmup_steps": self.warmup_steps,
            "mode": self.mode,
            "then": self.schedule.as_json(),
        }


_NAMES: dict[type, str] = {
    Constant: "constant",
    Linear: "linear",
    Cosine: "cosine",
    Rsqrt: "rsqrt",
    Piecewise: "piecewise",
    WarmupStableDecay: "warmup_stable_decay",
    Warmup: "warmup",
}


def from_json(data: str | Mapping[str, Any]) -> Schedule:
    """A schedule from its JSON form, or from its name alone where it needs no numbers.

    Args:
        data: what `as_json` gives, as a mapping; or the name of a schedule.

    >>> from_json("cosine")
    Cosine(end_factor=0.0)
    >>> from_json({"schedule": "linaer"})
    Traceback (most recent call last):
    tunewright.errors.DesignError: no schedule is called 'linaer'. Did you mean 'linear'?
    """
    fields: dict[str, Any] = {"schedule": data} if isinstance(data, str) else dict(data)
    name = fields.pop("schedule", None)
    kinds = {known: kind for kind, known in _NAMES.items()}
    if name not in kinds:
        near = _nearest(str(name), kinds)
        raise DesignError("schedule.no_such_name", name=name, near=near, known=list(kinds))
    if name == "warmup" and "then" in fields:
        fields["schedule"] = from_json(fields.pop("then"))
    try:
        schedule: Schedule = kinds[name](**fields)
    except TypeError as error:
        # the constructor's own words name the field; only its class name is noise
        reason = str(error).partition("__init__() ")[2] or str(error)
        raise DesignError("schedule.bad_fields", name=name, reason=reason) from None
    return schedule


# --- shapes and checks -----------------------------------------------------------------------


def _half_cosine(done: float) -> float:
    return (1 + math.cos(math.pi * done)) / 2


_SHAPES: dict[str, Callable[[float], float]] = {
    "linear": lambda done: 1 - done,
    "cosine": _half_cosine,
    "sqrt": lambda done: 1 - math.sqrt(done),
}


def _decay(
    shape: Callable[[float], float], step: int, max_train_steps: int, length: int, end: float
) -> float:
    """1 up to the last `length` updates, then along the shape (1 to 0) to `end`."""
    _check_step(step)
    if length > max_train_steps:
        raise DesignError(
            "schedule.decay_too_long", decay_steps=length, max_train_steps=max_train_steps
        )
    done = min(max((step - 1 - (max_train_steps - length)) / length, 0.0), 1.0)
    return end + (1 - end) * shape(done)


def _nearest(word: str, known: Any) -> str | None:
    return nearest(word, known)


def _check_step(step: int) -> None:
    if step < 1:
        raise DesignError("schedule.bad_step", step=step)


def _check_count(kind: str, name: str, value: object, least: int) -> None:
    if type(value) is not int or value < least:
        raise DesignError("schedule.bad_count", kind=kind, name=name, value=value, least=least)


def _check_number(kind: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DesignError("schedule.not_number", kind=kind, name=name, value=value)
    if not (math.isfinite(value) and value >= 0):
        raise DesignError("schedule.not_positive", kind=kind, name=name, value=value)


def _check_share(kind: str, name: str, value: float) -> None:
    _check_number(kind, name, value)
    if value > 1:
        raise DesignError("schedule.above_one", kind=kind, name=name, value=value)
