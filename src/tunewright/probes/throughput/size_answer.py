"""The answer of the batch-size probe: sizes, knee, verdict, prices, and the size to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tunewright.design.ranges import Value
from tunewright.messages import Message
from tunewright.probes.probe import Answer, message_of
from tunewright.probes.throughput.bottleneck import Bottleneck, judge
from tunewright.probes.throughput.cost import Cost, SizeCost, costs, least_price, least_time
from tunewright.probes.throughput.knee import GAIN, gain
from tunewright.probes.throughput.largest_size import Largest
from tunewright.probes.throughput.memory_model import MemoryModel, MemoryPoint
from tunewright.probes.throughput.size_notes import size_notes
from tunewright.probes.throughput.size_row import SizeRow, from_data


@dataclass(frozen=True, kw_only=True)
class BatchSizes(Answer):
    """What the probe found."""

    probe: ClassVar[str] = "batch_size"

    subject: str  # what was probed
    batch_name: str  # how it spells the batch size
    rows: tuple[SizeRow, ...]  # smallest first; the last may lie beyond the knee
    knee: int  # beyond it a larger batch brings less than 10 % per doubling
    largest: Largest  # that fits
    bottleneck: Bottleneck
    costs: tuple[SizeCost, ...]  # of the sizes up to the knee
    assumption: Message  # about the number of steps
    least_time: int | None  # the size to choose for the soonest end; None: over the budget
    least_price: int  # ... and for the lowest price
    identity: Mapping[str, str]  # what the figures are good for
    processes: int
    efficiency: float | None  # of several processes: throughput over as many times that of one
    notes: tuple[Message, ...]
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
        subject=subject,
        batch_name=batch_name,
        rows=tuple(rows),
        knee=best,
        largest=largest,
        bottleneck=judge([row.seen for row in rows], best, processes, efficiency),
        costs=priced,
        assumption=cost.assumption,
        least_time=least_time(priced, cost.budget),
        least_price=least_price(priced) or best,
        identity=dict(identity),
        processes=processes,
        efficiency=efficiency,
        notes=tuple(size_notes(rows, best, largest, cost, priced, processes, efficiency)),
        seconds=0.0,
    )


def _change(before: SizeRow, after: SizeRow) -> dict[str, Any]:
    """What a larger size would bring."""
    more = after.rate.examples_per_s / before.rate.examples_per_s - 1
    unsure = gain(before.rate, after.rate)[0] >= GAIN
    return {"batch_size": after.batch_size, "gain": more, "unsure": unsure}


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
    unseen = tuple(message_of(one) for one in document.get("unseen", ()))
    return replace(found, seconds=document["seconds"], unseen=unseen)
