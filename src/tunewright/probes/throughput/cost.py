"""What does a training cost at each batch size, in time and in money, and which one is best?

    time = time per step x steps,   resources = price per device hour x devices x time + upfront

The number of steps at each batch size is measured (`probes.critical_batch`) or assumed, and an
assumption is always reported (playbook, "Choosing the batch size to minimize training time" and
"... resource consumption").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tunewright.errors import DesignError
from tunewright.messages import Message

TIE = 0.05  # of two sizes within 5 % the smaller is chosen
EXAMPLES = 1_000_000  # trained on, where the number of steps is not known


@dataclass(frozen=True)
class Cost:
    """What is known of prices and of steps."""

    price_per_device_hour: float = 1.0  # in any currency; 1 counts device hours
    upfront: float | Mapping[int, float] = 0.0  # before training, or of each batch size
    steps: Mapping[int, float] = field(default_factory=dict)  # to the goal, by batch size
    critical_batch_size: int | None = None  # beyond it more examples per step save no steps
    budget: float | None = None  # the most that the least time may cost

    def __post_init__(self) -> None:
        upfront = self.upfront.values() if isinstance(self.upfront, Mapping) else (self.upfront,)
        for name, values in (
            ("price_per_device_hour", (self.price_per_device_hour,)),
            ("upfront", tuple(upfront)),
            ("budget", () if self.budget is None else (self.budget,)),
        ):
            if any(not math.isfinite(value) or value < 0 for value in values):
                raise DesignError("cost.bad_price", name=name, price=getattr(self, name))
        if any(size < 1 or not steps > 0 for size, steps in self.steps.items()):
            raise DesignError("cost.bad_steps", steps=dict(self.steps))
        if self.critical_batch_size is not None and self.critical_batch_size < 1:
            raise DesignError(
                "cost.bad_critical_batch_size", critical_batch_size=self.critical_batch_size
            )

    def steps_at(self, batch_size: int) -> float:
        """Steps to the goal: as measured, or between and beyond as assumed.

        >>> Cost(steps={100: 1000.0}, critical_batch_size=400).steps_at(200)
        500.0
        >>> Cost(steps={100: 1000.0}, critical_batch_size=400).steps_at(1600)
        250.0
        """
        if not self.steps:
            return EXAMPLES / self._useful(batch_size)
        known = sorted(self.steps.items())
        below = [pair for pair in known if pair[0] <= batch_size]
        above = [pair for pair in known if pair[0] >= batch_size]
        if below and above:
            return _between(below[-1], above[0], batch_size)
        size, steps = below[-1] if below else above[0]
        if below and len(known) > 1 and self.critical_batch_size is None:
            return steps  # beyond what was measured nothing is promised
        return steps * self._useful(size) / self._useful(batch_size)

    @property
    def assumption(self) -> Message:
        """What was assumed about the number of steps."""
        facts = {
            "steps": dict(self.steps),
            "critical_batch_size": self.critical_batch_size,
            "examples": EXAMPLES,
        }
        return Message("probe.cost.assumed", facts)

    def _useful(self, batch_size: int) -> int:
        return min(batch_size, self.critical_batch_size or batch_size)


@dataclass(frozen=True)
class SizeCost:
    """What a training at one batch size takes."""

    batch_size: int
    steps: float
    hours: float
    price: float


def costs(
    time_per_step_s: Mapping[int, float], cost: Cost, devices: int = 1
) -> tuple[SizeCost, ...]:
    """Time and price of a training at every batch size."""
    found = []
    for size, seconds in time_per_step_s.items():
        steps = cost.steps_at(size)
        hours = steps * seconds / 3600
        upfront = cost.upfront.get(size, 0.0) if isinstance(cost.upfront, Mapping) else cost.upfront
        price = cost.price_per_device_hour * devices * hours + upfront
        found.append(SizeCost(size, steps, hours, price))
    return tuple(found)


def least_time(rows: Sequence[SizeCost], budget: float | None = None) -> int | None:
    """The size that ends soonest within the budget; of two within 5 % the smaller."""
    allowed = [row for row in rows if budget is None or row.price <= budget]
    return _least({row.batch_size: row.hours for row in allowed})


def least_price(rows: Sequence[SizeCost]) -> int | None:
    """The size that costs least; of two within 5 % the smaller."""
    return _least({row.batch_size: row.price for row in rows})


def _least(values: Mapping[int, float]) -> int | None:
    if not values:
        return None
    best = min(values.values())
    return min(size for size, value in values.items() if value <= best * (1 + TIE))


def _between(low: tuple[int, float], high: tuple[int, float], size: int) -> float:
    if low[0] == high[0]:
        return low[1]
    share = math.log(size / low[0]) / math.log(high[0] / low[0])
    return math.exp((1 - share) * math.log(low[1]) + share * math.log(high[1]))
