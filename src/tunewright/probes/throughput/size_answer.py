"""The answer of the batch-size probe: bottleneck, costs, notes for the reader, the size to use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from tunewright.design.ranges import Value
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.probes.probe import Answer, message_of
from tunewright.probes.throughput.largest_size import Largest, MemoryModel, MemoryPoint
from tunewright.probes.throughput.size_sweep import FREE, GAIN, Rate, SizeRow, from_data, gain
from tunewright.probes.throughput.timing import TimingRule
from tunewright.store.store import Store

# ---- what holds a step up: its input, its launches, the exchange between processes, or nothing?
#
# The time per step should be constant while the batch is small. Where it grows from the smallest
# sizes on, something other than arithmetic limits it (playbook, "If the training throughput does
# not double, there is a bottleneck").


Kind = Literal["none", "input", "launch", "communication"]
_SLOWER = 1.1  # real over cached input, from which the input is the bottleneck
IDLE = 0.6  # a device busy for less than this share waits for the host
_EFFICIENT = 0.8  # throughput of n processes over n times that of one


@dataclass(frozen=True)
class Bottleneck:
    """What to speed up first."""

    kind: Kind
    message: Message | None = None  # what holds it up and what helps; None: nothing does


def judge(
    rows: Sequence[SizeRow], knee: int, processes: int = 1, efficiency: float | None = None
) -> Bottleneck:
    """The verdict from all sizes measured, smallest first."""
    if efficiency is not None and efficiency < _EFFICIENT:
        times = {"processes": processes, "times": efficiency * processes}
        facts: dict[str, Any] = {**times, "efficiency": efficiency}
        return Bottleneck("communication", Message("probe.bottleneck.communication", facts))
    at_knee = next(row for row in rows if row.batch_size == knee)
    for row in (at_knee, rows[0]):
        ratio = _surely_slower(row)
        if ratio is not None:
            facts = {"batch_size": row.batch_size, "ratio": ratio}
            return Bottleneck("input", Message("probe.bottleneck.input", facts))
    if at_knee.busy_share is not None and at_knee.busy_share < IDLE:
        return _launch(at_knee)
    slow_from_the_start = len(rows) > 1 and gain(_best(rows[0]), _best(rows[1]))[0] < FREE
    if slow_from_the_start and rows[0].busy_share is not None and rows[0].busy_share < IDLE:
        return _launch(rows[0])
    return Bottleneck("none")


def _surely_slower(row: SizeRow) -> float | None:
    """How much faster steps without their input are, where that is sure and more than 10 %."""
    real, cached = row.rate, row.cached_rate
    if cached is None or cached.low <= real.high:
        return None
    ratio = cached.examples_per_s / real.examples_per_s
    return ratio if ratio > _SLOWER else None


def _best(row: SizeRow) -> Rate:
    return row.cached_rate or row.rate


def _launch(row: SizeRow) -> Bottleneck:
    facts = {
        "batch_size": row.batch_size,
        "busy_share": row.busy_share or 0.0,
        "host_waits": row.host_waits or 0.0,
    }
    return Bottleneck("launch", Message("probe.bottleneck.launch", facts))


# ---- what does a training cost at each batch size, in time and in money, and which one is best?
#
#     time = time per step x steps,   resources = price per device hour x devices x time + upfront
#
# The number of steps at each batch size is measured (`probes.critical_batch`) or assumed, and an
# assumption is always reported (playbook, "Choosing the batch size to minimize training time" and
# "... resource consumption").


_TIE = 0.05  # of two sizes within 5 % the smaller is chosen
_EXAMPLES = 1_000_000  # trained on, where the number of steps is not known


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
            return _EXAMPLES / self._useful(batch_size)
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
            "examples": _EXAMPLES,
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
    size_costs = []
    for size, seconds in time_per_step_s.items():
        steps = cost.steps_at(size)
        hours = steps * seconds / 3600
        upfront = cost.upfront.get(size, 0.0) if isinstance(cost.upfront, Mapping) else cost.upfront
        price = cost.price_per_device_hour * devices * hours + upfront
        size_costs.append(SizeCost(size, steps, hours, price))
    return tuple(size_costs)


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
    return min(size for size, value in values.items() if value <= best * (1 + _TIE))


def _between(low: tuple[int, float], high: tuple[int, float], size: int) -> float:
    if low[0] == high[0]:
        return low[1]
    share = math.log(size / low[0]) / math.log(high[0] / low[0])
    return math.exp((1 - share) * math.log(low[1]) + share * math.log(high[1]))


# ---- what a reader should know about a batch size: what to fix before, what it binds later.
#
# The playbook wants a bottleneck diagnosed before anything else, a batch that needs an upfront
# investment deferred until the project has matured, and everything tuned again when the size
# changes later ("Choosing the batch size").


_FIRST = 4  # examples per process up to which a device should not be full yet


def _size_notes(
    rows: Sequence[SizeRow],
    best: int,
    largest: Largest,
    cost: Cost,
    priced: Sequence[SizeCost],
    processes: int,
    efficiency: float | None,
) -> list[Message]:
    """The notes of an answer, but for those about the way there."""
    notes = [Message("probe.batch_size.accumulation")]
    if largest.how == "not limited" and best == rows[-1].batch_size > 1:
        notes.append(Message("probe.batch_size.unused", {"batch_size": best}))
    if largest.how == "step time":
        notes.append(Message("probe.batch_size.too_slow", {"batch_size": largest.batch_size}))
    if largest.reason:
        notes.append(Message("probe.batch_size.refused", {"reason": largest.reason}))
    unsteady = [row.batch_size for row in rows if not row.timing.steady]
    if unsteady:
        notes.append(Message("probe.batch_size.unsteady", {"sizes": unsteady}))
    soonest = least_time(priced, cost.budget)
    if cost.budget is not None and soonest is None:
        notes.append(Message("probe.batch_size.over_budget", {"budget": cost.budget}))
    notes += not_doubling(rows, processes)
    notes += room_for_more(rows, best, processes)
    if soonest is not None:
        notes += deferral_note(priced, cost, soonest)
    if processes > 1:
        times = None if efficiency is None else efficiency * processes
        facts = {"processes": processes, "times": times}
        notes.append(Message("probe.batch_size.several_processes", facts))
    return notes


def not_doubling(rows: Sequence[SizeRow], processes: int) -> list[Message]:
    """Whether the throughput surely grows less than 1.8 times from the smallest size to the next.

    A device that is not full does two examples in the time of one. One that is full at once, or
    something else that takes as long, shows here.
    """
    if len(rows) < 2 or rows[0].batch_size > _FIRST * processes:
        return []
    small, large = rows[0].rate, rows[1].rate
    grown, surely = gain(small, large)
    at_most = grown**2 / surely  # as far above as the lower bound is below, in logarithms
    if at_most >= FREE:
        return []
    facts = {"small": small.batch_size, "large": large.batch_size, "gain": grown}
    return [Message("probe.batch_size.not_doubling", facts)]


def room_for_more(rows: Sequence[SizeRow], best: int, processes: int) -> list[Message]:
    """Whether a device idles at the best size, so that it could train several trials at once."""
    busy = next(row.busy_share for row in rows if row.batch_size == best)
    if busy is None or busy >= IDLE or processes > 1:
        return []
    return [Message("probe.batch_size.pack", {"batch_size": best, "busy_share": busy})]


def deferral_note(priced: Sequence[SizeCost], cost: Cost, soonest: int) -> list[Message]:
    """Whether the size that ends soonest needs more upfront than a whole training costs to use."""
    if not isinstance(cost.upfront, Mapping):
        return []
    by_size = {row.batch_size: row for row in priced}
    upfront = {size: float(cost.upfront.get(size, 0.0)) for size in by_size}
    least = min(upfront.values())
    instead = max((s for s, paid in upfront.items() if paid == least and s < soonest), default=None)
    if instead is None:
        return []
    extra = upfront[soonest] - least
    usage = by_size[instead].price - least
    if extra <= usage:
        return []
    saved = usage - (by_size[soonest].price - upfront[soonest])
    facts = {
        "batch_size": soonest,
        "extra": extra,
        "usage": usage,
        "instead": instead,
        "trainings": extra / saved if saved > 0 else None,  # until it has paid for itself
    }
    return [Message("probe.batch_size.defer", facts)]


def later_change(store: str | Path | None, batch_name: str, chosen: int) -> Message:
    """That another size later means tuning anew, with the sizes that rounds of the store have."""
    recorded: set[int] = set()
    if store is not None:
        try:
            with Store.open(store, read_only=True) as opened:
                fixed = [record.round.fixed.get(batch_name) for record in opened.rounds()]
        except NotFound:
            fixed = []
        recorded = {size for size in fixed if type(size) is int}
    others = sorted(recorded - {chosen})
    return Message("probe.batch_size.later_change", {"batch_size": chosen, "recorded": others})


# ---- the answer of the batch-size probe: sizes, knee, verdict, prices, and the size to use


@dataclass(frozen=True, kw_only=True)
class BatchSizes(Answer):
    """What the probe found."""

    probe: ClassVar[str] = "batch_size"

    subject: str  # what was probed
    batch_name: str  # how it spells the batch size
    rows: tuple[SizeRow, ...]  # smallest first; the last may lie beyond the knee
    knee: int  # beyond it a larger batch brings less than 10 % per doubling
    largest: Largest  # that fits
    bottleneck: Bottleneck  # what limits the throughput
    costs: tuple[SizeCost, ...]  # of the sizes up to the knee
    assumption: Message  # about the number of steps
    least_time: int | None  # the size to choose for the soonest end; None: over the budget
    least_price: int  # ... and for the lowest price
    identity: Mapping[str, str]  # what the figures are good for
    processes: int  # that trained together
    efficiency: float | None  # of several processes: throughput over as many times that of one
    notes: tuple[Message, ...]  # what a reader should know
    seconds: float  # that the probe took
    unseen: tuple[Message, ...] = ()  # what could not be known of it
    from_record: bool = False  # nothing had changed: read, not measured

    @property
    def message(self) -> Message:
        """The answer as a code with its facts."""
        row, following = self.row(self.chosen), self._beyond
        facts = {
            "batch_size": self.chosen,
            "examples_per_s": row.rate.examples_per_s,
            "step_ms": row.timing.time_per_step_s * 1e3,
            "knee": self.knee,
            "following": None if following is None else _change(self.row(self.knee), following),
            "largest": self.largest.batch_size,
            "limit_found": self.largest.how in ("memory model", "doubling"),
            "longest": self.largest.longest,
            "provisional": self.provisional,
        }
        return Message("probe.batch_size.chosen", facts)

    @property
    def provisional(self) -> bool:
        """Whether something other than arithmetic limits the steps: fix it, then probe again."""
        stalled = any(note.code == "probe.batch_size.not_doubling" for note in self.notes)
        return stalled or self.bottleneck.kind != "none"

    @property
    def _beyond(self) -> SizeRow | None:
        """The first size beyond the knee."""
        return next((row for row in self.rows if row.batch_size > self.knee), None)

    @property
    def settings(self) -> Mapping[str, Value]:
        """The batch size to put into the configuration."""
        return {self.batch_name: self.chosen}

    @property
    def missing(self) -> tuple[Message, ...]:
        """What a better judgement would need: a calmer machine, or what could not be seen."""
        following = self._beyond
        if following is None:
            return self.unseen
        gained, surely = gain(self.row(self.knee).rate, following.rate)
        if gained < GAIN:
            return self.unseen
        sizes = {"knee": self.knee, "following": following.batch_size}
        facts = {**sizes, "gain": gained, "surely": surely}
        return (*self.unseen, Message("probe.batch_size.calmer", facts))

    @property
    def chosen(self) -> int:
        """The size for the soonest end within the budget; else the cheapest."""
        return self.least_price if self.least_time is None else self.least_time

    def row(self, batch_size: int) -> SizeRow:
        """What was measured at a size."""
        return next(row for row in self.rows if row.batch_size == batch_size)


def build_answer(
    subject: str,
    batch_name: str,
    rows: Sequence[SizeRow],
    best: int,
    largest: Largest,
    cost: Cost,
    identity: Mapping[str, str],
    processes: int,
    efficiency: float | None,
) -> BatchSizes:
    """The answer from what was measured, up to its notes about the way there."""
    useful = {row.batch_size: row.timing.time_per_step_s for row in rows if row.batch_size <= best}
    priced = costs(useful, cost, devices=processes)
    return BatchSizes(
        subject=subject,
        batch_name=batch_name,
        rows=tuple(rows),
        knee=best,
        largest=largest,
        bottleneck=judge(rows, best, processes, efficiency),
        costs=priced,
        assumption=cost.assumption,
        least_time=least_time(priced, cost.budget),
        least_price=least_price(priced) or best,
        identity=dict(identity),
        processes=processes,
        efficiency=efficiency,
        notes=tuple(
            _size_notes(
                rows,
                best,
                largest=largest,
                cost=cost,
                priced=priced,
                processes=processes,
                efficiency=efficiency,
            )
        ),
        seconds=0.0,
    )


def _change(before: SizeRow, after: SizeRow) -> dict[str, Any]:
    """What a larger size would bring."""
    more = after.rate.examples_per_s / before.rate.examples_per_s - 1
    unsure = gain(before.rate, after.rate)[0] >= GAIN
    return {"batch_size": after.batch_size, "gain": more, "unsure": unsure}


def answer_from_data(document: Mapping[str, Any], cost: Cost) -> BatchSizes:
    """The answer that was kept, with today's prices."""
    rows = [from_data(row) for row in document["rows"]]
    largest_data = document["largest"]
    model = largest_data["model"]
    largest = Largest(
        **{
            **largest_data,
            "model": None if model is None else MemoryModel(**model),
            "points": tuple(MemoryPoint(**point) for point in largest_data["points"]),
        }
    )
    answer = build_answer(
        document["subject"],
        document["batch_name"],
        rows=rows,
        best=document["knee"],
        largest=largest,
        cost=cost,
        identity=document["identity"],
        processes=document["processes"],
        efficiency=document["efficiency"],
    )
    unseen = tuple(message_of(message) for message in document.get("unseen", ()))
    return replace(answer, seconds=document["seconds"], unseen=unseen)


# ---- what a batch-size probe could not see of what it timed, reported rather than guessed


def unseen(kind: str, rows: Sequence[SizeRow], rule: TimingRule) -> list[Message]:
    """What could not be known of a subject of this kind; nothing of what is driven step by step."""
    if kind != "command":
        return []
    limits = [Message("probe.unseen.from_outside")]
    if any(row.reserved_mb is None for row in rows):
        limits.append(Message("probe.unseen.gpu_memory"))
    few = [row.batch_size for row in rows if len(row.timing.window_s) < rule.windows]
    if few:
        limits.append(Message("probe.unseen.few_lines", {"sizes": few, "windows": rule.windows}))
    return limits
