"""What a reader should know about a batch size: what to fix before, what it binds later.

The playbook wants a bottleneck diagnosed before anything else, a batch that needs an upfront
investment deferred until the project has matured, and everything tuned again when the size changes
later ("Choosing the batch size").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.probes.throughput.cost import Cost, SizeCost, least_time
from tunewright.probes.throughput.knee import FREE, gain
from tunewright.probes.throughput.largest_size import Largest
from tunewright.probes.throughput.size_row import SizeRow
from tunewright.store.store import Store

FIRST = 4  # examples per process up to which a device should not be full yet


def size_notes(
    rows: Sequence[SizeRow],
    best: int,
    largest: Largest,
    cost: Cost,
    priced: Sequence[SizeCost],
    processes: int = 1,
    efficiency: float | None = None,
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
    if soonest is not None:
        notes += deferred(priced, cost, soonest)
    if processes > 1:
        times = None if efficiency is None else efficiency * processes
        facts = {"processes": processes, "times": times}
        notes.append(Message("probe.batch_size.several_processes", facts))
    return notes


def not_doubling(rows: Sequence[SizeRow], processes: int = 1) -> list[Message]:
    """Whether the throughput surely grows less than 1.8 times from the smallest size to the next.

    A device that is not full does two examples in the time of one. One that is full at once, or
    something else that takes as long, shows here.
    """
    if len(rows) < 2 or rows[0].batch_size > FIRST * processes:
        return []
    small, large = rows[0].rate, rows[1].rate
    grown, surely = gain(small, large)
    at_most = grown**2 / surely  # as far above as the lower bound is below, in logarithms
    if at_most >= FREE:
        return []
    facts = {"small": small.batch_size, "large": large.batch_size, "gain": grown}
    return [Message("probe.batch_size.not_doubling", facts)]


def deferred(priced: Sequence[SizeCost], cost: Cost, soonest: int) -> list[Message]:
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
