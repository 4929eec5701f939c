"""Which batch sizes fit, how fast is each, and which one should be used?

    answer = tunewright.probes.batch_size(make_step)     # or a Workload
    print(answer.says)

The playbook's first question ("Choosing the batch size"): the sizes that fit, the throughput of
each, the knee beyond which a larger batch only takes longer, what holds the step up, and what a
training costs in time and money.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tunewright.design.space import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.workload import Workload
from tunewright.probes.cost import Cost
from tunewright.probes.kept_rows import KeptRows
from tunewright.probes.knee import knee, passed, pays, shown_rate
from tunewright.probes.largest_size import (
    SETTLE,
    Bounds,
    Largest,
    closing,
    find_largest,
    shown_mb,
)
from tunewright.probes.memory_model import MemoryPoint
from tunewright.probes.probe import as_document
from tunewright.probes.rig import Device, OpenRig, OutOfMemory, ProcessRig, Rig
from tunewright.probes.rigs import Rigs, Work
from tunewright.probes.size_answer import BatchSizes, concluded, revived
from tunewright.probes.size_row import SizeRow, measure, measure_synthetic, watch_device
from tunewright.probes.subject import Subject, subject_of
from tunewright.probes.timing import TimingRule
from tunewright.probes.unseen import unseen

MOST = 2**20  # examples per step; nobody trains with more


def batch_size(
    what: Workload | Callable[..., Any],
    *,
    fixed: Mapping[str, Value] | None = None,
    smallest: int | None = None,
    largest: int | None = None,
    sizes: Sequence[int] | None = None,
    everything: bool = False,
    processes: int = 1,
    memory_gb: float | None = None,
    cost: Cost | None = None,
    rule: TimingRule | None = None,
    store: str | Path | None = "tuning.db",
    again: bool = False,
    longest_step_s: float = 20.0,
    say: Callable[[str], None] = lambda line: None,
) -> BatchSizes:
    """Find the batch sizes that fit, the throughput of each, and the one to use.

    `what` is a factory `make_step(batch_size)` whose result does one whole training step each time
    it is called, or a workload whose training function uses `run.steps` (`pipeline.fit` does), or
    whose command prints its steps; `fixed` gives its other hyperparameters. Sizes are doubled from
    `smallest` until a doubling no longer pays, or all that fit with `everything`; or exactly
    `sizes`. With several `processes` torchrun's variables are set and `batch_size` counts the
    examples of all. `memory_gb` limits the memory, on a CPU too. Measured sizes are kept in `store`
    (a workload's own; None keeps nothing) and are good until model, optimizer, precision, device,
    processes or example shape change; `again` measures anew. `say` is told how it goes.
    """
    started = time.monotonic()
    subject = subject_of(what, fixed)
    kept_in = what.store if isinstance(what, Workload) else store
    asked = Asked(
        tuple(sorted(set(sizes or ()))),
        _smallest(smallest, sizes, processes),
        min(largest or MOST, max(sizes, default=MOST) if sizes else MOST),
        everything,
        processes,
        memory_gb,
        rule or TimingRule(),
        longest_step_s,
    )
    asked.check()
    if subject.kind == "command" and processes > 1:
        raise DesignError(
            f"processes={processes}: a command starts its processes itself, such as by torchrun "
            f"--nproc-per-node={processes} in its template; leave processes at 1."
        )
    open_rig = opener(subject, processes, memory_gb)
    return probe_rig(
        open_rig,
        subject,
        asked,
        cost or Cost(),
        None if kept_in is None else kept_in,
        again=again,
        say=say,
        started=started,
        alone=opener(subject, 1, memory_gb) if processes > 1 else None,
        ahead=processes == 1 and subject.kind != "command",
    )


@dataclass(frozen=True)
class Asked:
    """How the question was put."""

    sizes: tuple[int, ...]
    smallest: int
    most: int
    everything: bool
    processes: int
    memory_gb: float | None
    rule: TimingRule
    longest_step_s: float = 20.0

    def check(self) -> None:
        """Refuse what cannot be asked."""
        problems = []
        if self.processes < 1:
            problems.append(f"processes={self.processes}: at least one process trains.")
        launched = int(os.environ.get("WORLD_SIZE", "1"))
        if launched > 1:
            problems.append(
                f"WORLD_SIZE={launched}: call the probe from one process, without torchrun; with "
                f"processes={launched} it starts them itself."
            )
        if self.memory_gb is not None and self.memory_gb <= 0:
            problems.append(f"memory_gb={self.memory_gb}: a limit is more than 0.")
        if self.smallest < 1 or any(size < 1 for size in self.sizes):
            problems.append("batch sizes are 1 or more.")
        uneven = [s for s in (self.smallest, *self.sizes) if s % max(self.processes, 1)]
        if uneven:
            problems.append(
                f"batch size {uneven[0]} cannot be shared by {self.processes} processes: sizes "
                "count the examples of all of them."
            )
        if self.most < self.smallest:
            problems.append(f"largest={self.most} is below smallest={self.smallest}.")
        if problems:
            raise DesignError("\n".join(problems))


def opener(subject: Subject, processes: int, memory_gb: float | None) -> OpenRig:
    """How to start fresh processes."""
    limit = None if memory_gb is None else memory_gb * 1024
    return lambda: ProcessRig(subject, processes, limit)


def probe_rig(
    open_rig: OpenRig,
    subject: Subject,
    asked: Asked,
    cost: Cost,
    store: str | Path | None = None,
    *,
    again: bool = False,
    say: Callable[[str], None] = lambda line: None,
    started: float = 0.0,
    alone: OpenRig | None = None,
    ahead: bool = False,
) -> BatchSizes:
    """The probe on anything that can be built and stepped: real processes, or a known world.

    With several processes every size has its own: a process group is joined once.
    """
    with contextlib.closing(Rigs(open_rig, asked.processes == 1, ahead)) as rigs:
        try:
            device, first, seen = rigs.use(lambda rig: _look(rig, asked.smallest))
        except OutOfMemory as error:
            raise WorkloadError(
                f"{subject.name} does not fit at all: batch size {asked.smallest} runs out of "
                f"memory ({error}). Try a smaller model, lower precision or more memory."
            ) from None
        found = {**seen, "fixed": _shown(subject.configuration)}
        kept = KeptRows(store, subject.name, found, asdict(asked))
        if kept.answer is not None and not again:
            return replace(revived(kept.answer, cost), from_record=True)
        notes = [f"Measured anew, as {change} has changed." for change in kept.changed]
        for line in notes:
            say(line)
        if again:
            kept = KeptRows(None, subject.name, found, asdict(asked))
        memory_mb = None if asked.memory_gb is None else asked.memory_gb * 1024
        bounds = Bounds(
            asked.smallest, asked.most, asked.processes, memory_mb, asked.longest_step_s
        )
        largest = find_largest(rigs, bounds, device, first, say)
        rows = _sweep(rigs, subject, asked, largest, kept, say)
        best = knee([row.rate for row in rows])
        if device.kind == "cuda" and subject.kind != "command":
            rows = _watched(rigs, rows, best, largest)
    efficiency = None
    if alone is not None:
        with closing(alone()) as rig:
            one = measure(rig, max(1, best // asked.processes), asked.rule)
        single = one.rate.examples_per_s
        together = next(r for r in rows if r.batch_size == best).rate.examples_per_s
        efficiency = together / (asked.processes * single)
    answer = concluded(
        subject.name,
        subject.batch_name,
        rows,
        best,
        largest,
        cost,
        found,
        asked.processes,
        efficiency,
    )
    answer = replace(
        answer,
        notes=(*notes, *answer.notes),
        unseen=tuple(unseen(subject.kind, rows, asked.rule)),
        seconds=time.monotonic() - started if started else 0.0,
    )
    if again and store is not None:
        kept = KeptRows(store, subject.name, found, asdict(asked))
    kept.conclude(as_document(answer))
    return answer


def _smallest(smallest: int | None, sizes: Sequence[int] | None, processes: int) -> int:
    if smallest is not None:
        return smallest
    return min(sizes) if sizes else max(processes, 1)


def _look(rig: Rig, smallest: int) -> tuple[Device, MemoryPoint, dict[str, str]]:
    """Where it runs, what the smallest size takes, and what is being trained."""
    device = rig.build(smallest)
    return device, MemoryPoint(smallest, rig.run(SETTLE).reserved_mb or 0.0), rig.identify()


def _watched(rigs: Rigs, rows: list[SizeRow], best: int, largest: Largest) -> list[SizeRow]:
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


def _sweep(
    rigs: Rigs,
    subject: Subject,
    asked: Asked,
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
        timing = partial(measure, batch_size=size, rule=asked.rule)
        row = _in_process(rigs, largest, size, timing, turn)
        if subject.takes_synthetic:
            timing = partial(measure_synthetic, row=row, rule=asked.rule)
            row = _in_process(rigs, largest, size, timing, turn)
        kept.add(row, turn)
        say(_line(row))
        return row

    rows: dict[int, SizeRow] = {}
    twice: set[int] = set()

    def repeat(size: int) -> None:
        """Once more, in another moment's mood of the machine."""
        if size not in twice:
            twice.add(size)
            rows[size] = rows[size].pooled(measured(size, turn=1))

    for size in asked.sizes or _doublings(asked.smallest, largest.batch_size):
        if size > largest.batch_size:
            say(f"batch size {size}: does not fit, left out")
            break
        try:
            before = knee([row.rate for row in rows.values()]) if rows else 0
            rows[size] = measured(size)
            if before and not pays(rows[before].rate, rows[size].rate):
                repeat(before)
                repeat(size)
        except OutOfMemory:
            rows.pop(size, None)
            say(f"batch size {size}: out of memory after a while")
            break
        stop = passed([row.rate for row in rows.values()])
        if stop and not (asked.everything or asked.sizes):
            break
    if not rows:
        raise WorkloadError(
            f"no batch size of {subject.name} could be timed: {asked.smallest} runs out of memory "
            "after some steps. Try a smaller model, lower precision or more memory."
        )
    return list(rows.values())


def _doublings(smallest: int, largest: int) -> list[int]:
    sizes = [smallest]
    while sizes[-1] * 2 <= largest:
        sizes.append(sizes[-1] * 2)
    return sizes


def _line(row: SizeRow) -> str:
    rate = row.rate
    return (
        f"batch size {row.batch_size:,}: {shown_rate(rate.examples_per_s)} examples/s "
        f"({shown_rate(rate.low)} to {shown_rate(rate.high)}), "
        f"{row.timing.time_per_step_s * 1e3:.4g} ms per step, {shown_mb(row.reserved_mb)}"
    )


def _shown(configuration: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in sorted(configuration.items())) or "none"
