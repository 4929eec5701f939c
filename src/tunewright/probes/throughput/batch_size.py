"""Which batch sizes fit, how fast is each, and which one should be used?

    answer = tunewright.probes.throughput.batch_size(make_step)     # or a Workload
    print(answer.headline)

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
from pathlib import Path
from typing import Any

from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.sources import sources
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import as_document
from tunewright.probes.throughput.cost import Cost
from tunewright.probes.throughput.kept_rows import KeptRows, has_answer
from tunewright.probes.throughput.knee import knee
from tunewright.probes.throughput.largest_size import (
    SETTLE,
    Bounds,
    Largest,
    both,
    closing,
    find_largest,
)
from tunewright.probes.throughput.memory_model import MemoryPoint
from tunewright.probes.throughput.rig import Device, OpenRig, OutOfMemory, ProcessRig, Rig
from tunewright.probes.throughput.rigs import Rigs
from tunewright.probes.throughput.size_answer import BatchSizes, concluded, revived
from tunewright.probes.throughput.size_notes import later_change
from tunewright.probes.throughput.size_row import measure
from tunewright.probes.throughput.size_sweep import Plan, sweep, watched
from tunewright.probes.throughput.subject import Subject, subject_of
from tunewright.probes.throughput.timing import TimingRule
from tunewright.probes.throughput.unseen import unseen
from tunewright.progress.choose import Wanted, lines_for
from tunewright.store.provenance import digest

MOST = 2**20  # examples per step; nobody trains with more


def batch_size(
    what: Workload | Callable[..., Any],
    *,
    fixed: Mapping[str, Value] | None = None,
    smallest: int | None = None,
    largest: int | None = None,
    sizes: Sequence[int] | None = None,
    everything: bool = False,
    longest: Mapping[str, Value] | None = None,
    processes: int = 1,
    memory_gb: float | None = None,
    cost: Cost | None = None,
    rule: TimingRule | None = None,
    store: str | Path | None = "tuning.db",
    again: bool = False,
    longest_step_s: float = 20.0,
    progress: Wanted = "auto",
) -> BatchSizes:
    """Find the batch sizes that fit, the throughput of each, and the one to use.

    `what` is a factory `make_step(batch_size)` whose result does one whole training step each time
    it is called, or a workload whose training function uses `run.steps` (`pipeline.fit` does), or
    whose command prints its steps; `fixed` gives its other hyperparameters. Sizes are doubled from
    `smallest` until a doubling no longer pays, or all that fit with `everything`; or exactly
    `sizes`. `longest` gives the hyperparameters with which examples are largest, such as
    `{"sequence_length": 4096}`: sizes are timed without them, but must fit with them too.
    With several `processes` torchrun's variables are set and `batch_size` counts the examples of
    all. `memory_gb` limits the memory, on a CPU too. Measured sizes are kept in `store`
    (a workload's own; None keeps nothing) and are good until model, optimizer, precision, device,
    processes, example shape or the source of the step change; `again` measures anew.
    `progress` is as for `tw.run`; every size is a message.
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
        _shown(longest) if longest else "",
    )
    asked.check()
    if subject.kind == "command" and processes > 1:
        raise DesignError("throughput.processes_of_command", processes=processes)
    answer = probe_rig(
        opener(subject, processes, memory_gb),
        subject,
        asked,
        cost or Cost(),
        kept_in,
        again=again,
        say=lines_for(progress),
        started=started,
        alone=opener(subject, 1, memory_gb) if processes > 1 else None,
        longest=opener(subject_of(what, {**(fixed or {}), **longest}), processes, memory_gb)
        if longest
        else None,
        ahead=_second_needed(subject, asked) and (again or not has_answer(kept_in, subject.name)),
    )
    later = later_change(
        kept_in if isinstance(what, Workload) else None, answer.batch_name, answer.chosen
    )
    return replace(answer, notes=(*answer.notes, later))


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
    longest: str = ""  # the hyperparameters of the largest examples, in words

    @property
    def plan(self) -> Plan:
        """Which sizes are timed, and how carefully."""
        return Plan(self.sizes, self.smallest, self.everything, self.rule)

    @property
    def bounds(self) -> Bounds:
        """Where the largest size is looked for."""
        memory_mb = None if self.memory_gb is None else self.memory_gb * 1024
        return Bounds(self.smallest, self.most, self.processes, memory_mb, self.longest_step_s)

    def check(self) -> None:
        """Refuse what cannot be asked."""
        problems: list[Message] = []
        if self.processes < 1:
            problems.append(Message("throughput.no_process", {"processes": self.processes}))
        launched = int(os.environ.get("WORLD_SIZE", "1"))
        if launched > 1:
            problems.append(Message("throughput.under_torchrun", {"processes": launched}))
        if self.memory_gb is not None and self.memory_gb <= 0:
            problems.append(Message("throughput.bad_memory_limit", {"memory_gb": self.memory_gb}))
        if self.smallest < 1 or any(size < 1 for size in self.sizes):
            problems.append(Message("throughput.bad_size"))
        uneven = [s for s in (self.smallest, *self.sizes) if s % max(self.processes, 1)]
        if uneven:
            problems.append(
                Message("throughput.uneven_size", {"size": uneven[0], "processes": self.processes})
            )
        if self.most < self.smallest:
            problems.append(
                Message(
                    "throughput.largest_below_smallest",
                    {"largest": self.most, "smallest": self.smallest},
                )
            )
        if problems:
            raise DesignError.several(problems)


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
    longest: OpenRig | None = None,
    ahead: bool = False,
) -> BatchSizes:
    """The probe on anything that can be built and stepped: real processes, or a known world.

    `alone` opens one process of several, `longest` those with the longest examples. With several
    processes every size has its own: a process group is joined once.
    """
    with contextlib.closing(Rigs(open_rig, asked.processes == 1, ahead)) as rigs:
        try:
            device, first, seen = rigs.use(lambda rig: _look(rig, asked.smallest))
        except OutOfMemory as error:
            raise WorkloadError(
                "throughput.nothing_fits",
                subject=subject.name,
                smallest=asked.smallest,
                error=error,
            ) from None
        found = {**seen, "fixed": _shown(subject.configuration), "code": _code(subject)}
        kept = KeptRows(store, subject.name, found, asdict(asked))
        if kept.answer is not None and not again:
            return replace(revived(kept.answer, cost), from_record=True)
        notes = kept.changed
        for note in notes:
            say(note.text)
        if again:
            kept = KeptRows(None, subject.name, found, asdict(asked))
        if longest is None:
            largest = find_largest(rigs, asked.bounds, device, first, say)
        else:
            say(Message("probe.progress.largest_with", {"longest": asked.longest}).text)
            second = _with_longest(longest, subject, asked, say)
            say(Message("probe.progress.largest_without").text)
            bounds = replace(asked.bounds, most=second.batch_size)
            largest = both(find_largest(rigs, bounds, device, first, say), second, asked.longest)
        rows = sweep(rigs, subject, asked.plan, largest, kept, say)
        best = knee([row.rate for row in rows])
        if device.kind == "cuda" and subject.kind != "command":
            rows = watched(rigs, rows, best, largest)
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


def _second_needed(subject: Subject, asked: Asked) -> bool:
    """Whether a second process will surely be needed, so that it may be started with the first."""
    return subject.kind != "command" and asked.processes == 1 and asked.most > asked.smallest


def _smallest(smallest: int | None, sizes: Sequence[int] | None, processes: int) -> int:
    if smallest is not None:
        return smallest
    return min(sizes) if sizes else max(processes, 1)


def _with_longest(
    open_rig: OpenRig, subject: Subject, asked: Asked, say: Callable[[str], None]
) -> Largest:
    """The largest size of the longest examples, found like any other."""
    with contextlib.closing(Rigs(open_rig, asked.processes == 1)) as rigs:
        try:
            device, first, _ = rigs.use(lambda rig: _look(rig, asked.smallest))
        except OutOfMemory as error:
            raise WorkloadError(
                "throughput.longest_does_not_fit",
                subject=subject.name,
                longest=asked.longest,
                smallest=asked.smallest,
                error=error,
            ) from None
        return find_largest(rigs, asked.bounds, device, first, say)


def _look(rig: Rig, smallest: int) -> tuple[Device, MemoryPoint, dict[str, str]]:
    """Where it runs, what the smallest size takes, and what is being trained."""
    device = rig.build(smallest)
    return device, MemoryPoint(smallest, rig.run(SETTLE).reserved_mb or 0.0), rig.identify()


def _code(subject: Subject) -> str:
    """The source files of what is stepped: an edit of the step is another step."""
    return digest(sources(subject.function))[:12] or "unknown"


def _shown(configuration: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in sorted(configuration.items())) or "none"
