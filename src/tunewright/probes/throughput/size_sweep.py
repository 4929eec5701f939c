"""How fast is each size? Timed upward until two lie beyond the knee, each in its process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tunewright.errors import WorkloadError
from tunewright.messages import Message
from tunewright.probes.throughput.kept_rows import KeptRows
from tunewright.probes.throughput.knee import knee, passed, pays
from tunewright.probes.throughput.largest_size import Largest
from tunewright.probes.throughput.rig import CannotStep, OutOfMemory
from tunewright.probes.throughput.rigs import Rigs, Work
from tunewright.probes.throughput.size_row import SizeRow, measure, measure_synthetic, watch_device
from tunewright.probes.throughput.subject import Subject
from tunewright.probes.throughput.timing import TimingRule


@dataclass(frozen=True)
class Plan:
    """Which sizes are timed, and how carefully."""

    sizes: tuple[int, ...]  # exactly these; none: doubled from the smallest
    smallest: int
    everything: bool  # not only up to the knee
    rule: TimingRule


def sweep(
    rigs: Rigs,
    subject: Subject,
    plan: Plan,
    largest: Largest,
    kept: KeptRows,
    say: Callable[[str], None],
) -> list[SizeRow]:
    """Measure sizes upward until two lie beyond the knee, or all if they are wanted.

    A doubling that does not pay is measured again, both ends of it, in another process, before it
    is believed.
    """

    def measured(size: int, turn: int = 0) -> SizeRow:
        known = kept.get(size, turn)
        if known is not None:
            return known
        timing = partial(measure, batch_size=size, rule=plan.rule)
        row = _in_process(rigs, largest, size, timing, turn)
        if subject.takes_synthetic:
            timing = partial(measure_synthetic, row=row, rule=plan.rule)
            row = _in_process(rigs, largest, size, timing, turn)
        kept.add(row, turn)
        say(_line(row).text)
        return row

    rows: dict[int, SizeRow] = {}
    twice: set[int] = set()
    refused: list[CannotStep] = []

    def repeat(size: int) -> None:
        """Once more, in another moment's mood of the machine."""
        if size not in twice:
            twice.add(size)
            rows[size] = rows[size].pooled(measured(size, turn=1))

    sizes = list(plan.sizes or _doublings(plan.smallest, largest.batch_size))
    began = time.monotonic()
    for done, size in enumerate(sizes):
        if done:
            per_size = (time.monotonic() - began) / done
            left = {"done": done, "most": len(sizes), "seconds": (len(sizes) - done) * per_size}
            say(Message("probe.progress.left", left).text)
        if size > largest.batch_size and not (plan.sizes and largest.may_be_larger):
            say(Message("probe.progress.does_not_fit", {"batch_size": size}).text)
            break
        try:
            before = knee([row.rate for row in rows.values()]) if rows else 0
            rows[size] = measured(size)
            if before and not pays(rows[before].rate, rows[size].rate):
                repeat(before)
                repeat(size)
        except OutOfMemory:
            rows.pop(size, None)
            say(Message("probe.progress.out_of_memory_later", {"batch_size": size}).text)
            break
        except CannotStep as refusal:  # this size; a larger one may be accepted
            rows.pop(size, None)
            refused.append(refusal)
            facts = {"batch_size": size, "error": str(refusal)}
            say(Message("probe.progress.refused", facts).text)
            continue
        stop = passed([row.rate for row in rows.values()])
        if stop and not (plan.everything or plan.sizes):
            break
    if not rows and refused:
        raise refused[0]
    if not rows:
        raise WorkloadError(
            "throughput.nothing_timed", subject=subject.name, smallest=plan.smallest
        )
    return list(rows.values())


def _doublings(smallest: int, largest: int) -> list[int]:
    sizes = [smallest]
    while sizes[-1] * 2 <= largest:
        sizes.append(sizes[-1] * 2)
    return sizes


def _line(row: SizeRow) -> Message:
    rate = row.rate
    facts = {
        "batch_size": row.batch_size,
        "examples_per_s": rate.examples_per_s,
        "low": rate.low,
        "high": rate.high,
        "step_ms": row.timing.time_per_step_s * 1e3,
        "reserved_mb": row.reserved_mb,
    }
    return Message("probe.progress.size", facts)


def watched(rigs: Rigs, rows: list[SizeRow], best: int, largest: Largest) -> list[SizeRow]:
    """The rows with how busy the device is at the knee and at the smallest size.

    After all timing: a profiler that was once there may slow later steps down.
    """
    return [
        _in_process(rigs, largest, row.batch_size, partial(watch_device, row=row), turn=1)
        if row is rows[0] or row.batch_size == best
        else row
        for row in rows
    ]


def _in_process(
    rigs: Rigs, largest: Largest, size: int, work: Work[SizeRow], turn: int = 0
) -> SizeRow:
    return rigs.use(work, turn) if largest.surely_fits(size) else rigs.alone(work)
