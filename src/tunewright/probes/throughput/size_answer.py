"""The answer of the batch-size probe: sizes, knee, verdict, prices, and the size to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tunewright.design.ranges import Value
from tunewright.probes.throughput.bottleneck import Bottleneck, judge
from tunewright.probes.throughput.cost import Cost, SizeCost, costs, least_price, least_time
from tunewright.probes.throughput.knee import GAIN, gain, shown_rate
from tunewright.probes.throughput.largest_size import Largest
from tunewright.probes.throughput.memory_model import MemoryModel, MemoryPoint
from tunewright.probes.throughput.size_row import SizeRow, from_data

ACCUMULATION = (
    "Gradient accumulation brings no throughput: every part takes the time of a step of its own. "
    "Use it only for a batch that must be larger than what fits."
)


@dataclass(frozen=True)
class BatchSizes:
    """What the probe found."""

    probe: ClassVar[str] = "batch_size"

    subject: str  # what was probed
    batch_name: str  # how it spells the batch size
    rows: tuple[SizeRow, ...]  # smallest first; the last may lie beyond the knee
    knee: int  # beyond it a larger batch brings less than 10 % per doubling
    largest: Largest  # that fits
    bottleneck: Bottleneck
    costs: tuple[SizeCost, ...]  # of the sizes up to the knee
    assumption: str  # about the number of steps
    least_time: int | None  # the size to choose for the soonest end; None: over the budget
    least_price: int  # ... and for the lowest price
    identity: Mapping[str, str]  # what the figures are good for
    processes: int
    efficiency: float | None  # of several processes: throughput over as many times that of one
    notes: tuple[str, ...]
    seconds: float  # that the probe took
    unseen: tuple[str, ...] = ()  # what could not be known of it, a sentence each
    from_record: bool = False  # nothing had changed: read, not measured

    @property
    def says(self) -> str:
        """The answer in one sentence."""
        row = self.row(self.chosen)
        words = (
            f"Batch size {self.chosen:,} trains on {shown_rate(row.rate.examples_per_s)} "
            f"examples/s ({row.timing.time_per_step_s * 1e3:.4g} ms per step)"
        )
        if self.chosen < self.knee:
            words += f", and larger ones, though faster up to {self.knee:,}, end no sooner"
        elif (following := self._beyond) is not None:
            words += f"; {following.batch_size:,} {_changed(self.row(self.knee), following)}"
        fits, longest = f"{self.largest.batch_size:,}", ""
        if self.largest.longest:
            longest = f", with {self.largest.longest} as well"
        if self.largest.how in ("memory model", "doubling"):
            return f"{words}. The largest that fits is {fits}{longest}."
        return f"{words}. {fits} fits too{longest}; nothing larger was tried."

    @property
    def _beyond(self) -> SizeRow | None:
        """The first size beyond the knee."""
        return next((row for row in self.rows if row.batch_size > self.knee), None)

    @property
    def settings(self) -> Mapping[str, Value]:
        """The batch size to put into the configuration."""
        return {self.batch_name: self.chosen}

    @property
    def missing(self) -> tuple[str, ...]:
        """What a better judgement would need: a calmer machine, or what could not be seen."""
        following = self._beyond
        if following is None:
            return self.unseen
        gained, surely = gain(self.row(self.knee).rate, following.rate)
        if gained < GAIN:
            return self.unseen
        return (
            *self.unseen,
            f"a calmer machine, or longer windows: from {self.knee:,} to {following.batch_size:,} "
            f"the throughput seems to grow {gained:.2f} times, but surely only {surely:.2f} times",
        )

    @property
    def chosen(self) -> int:
        """The size for the soonest end within the budget; else the cheapest."""
        return self.least_price if self.least_time is None else self.least_time

    def row(self, batch_size: int) -> SizeRow:
        """What was measured at a size."""
        return next(row for row in self.rows if row.batch_size == batch_size)


def concluded(
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
        subject,
        batch_name,
        tuple(rows),
        best,
        largest,
        judge([row.seen for row in rows], best, processes, efficiency),
        priced,
        cost.assumption,
        least_time(priced, cost.budget),
        least_price(priced) or best,
        dict(identity),
        processes,
        efficiency,
        tuple(_notes(rows, best, largest, cost, priced)),
        0.0,
    )


def _changed(before: SizeRow, after: SizeRow) -> str:
    """What a larger size would bring, in words."""
    more = after.rate.examples_per_s / before.rate.examples_per_s - 1
    if more < 0:
        return f"would be {-more:.0%} slower"
    unsure = gain(before.rate, after.rate)[0] >= GAIN
    return f"seems to add {more:.0%}, but not surely" if unsure else f"would add only {more:.0%}"


def _notes(
    rows: Sequence[SizeRow],
    best: int,
    largest: Largest,
    cost: Cost,
    priced: Sequence[SizeCost],
) -> list[str]:
    notes = [ACCUMULATION]
    if largest.how == "not limited" and best == rows[-1].batch_size > 1:
        notes.append(
            f"Neither time per step nor memory grows up to {best}: does the step use the batch "
            "size at all?"
        )
    if largest.how == "step time":
        notes.append(
            f"Sizes above {largest.batch_size} were not tried: a step would take too long."
        )
    if largest.reason:
        notes.append(f"Nothing larger could be built: {largest.reason}")
    unsteady = [str(row.batch_size) for row in rows if not row.timing.steady]
    if unsteady:
        notes.append(
            f"Times per step had not settled within 10 % at {', '.join(unsteady)}: the machine is "
            "busy, or the work differs from step to step. The intervals say how much it matters."
        )
    if cost.budget is not None and least_time(priced, cost.budget) is None:
        notes.append(f"No size stays within the budget of {cost.budget:g}.")
    return notes


def revived(document: Mapping[str, Any], cost: Cost) -> BatchSizes:
    """The answer that was kept, with today's prices."""
    rows = [from_data(row) for row in document["rows"]]
    told = document["largest"]
    model = told["model"]
    largest = Largest(
        **{
            **told,
            "model": None if model is None else MemoryModel(**model),
            "points": tuple(MemoryPoint(**point) for point in told["points"]),
        }
    )
    found = concluded(
        document["subject"],
        document["batch_name"],
        rows,
        document["knee"],
        largest,
        cost,
        document["identity"],
        document["processes"],
        document["efficiency"],
    )
    unseen = tuple(document.get("unseen", ()))
    return replace(found, seconds=document["seconds"], unseen=unseen)
