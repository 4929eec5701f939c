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
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tunewright.budgets.gate import through
from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.sources import sources
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import as_document
from tunewright.probes.throughput.largest_size import (
    SETTLE,
    Largest,
    MemoryPoint,
    both,
    find_largest,
)
from tunewright.probes.throughput.rig import Device, OpenRig, OutOfMemory, ProcessRig, Rig, Rigs
from tunewright.probes.throughput.size_answer import (
    BatchSizes,
    Cost,
    answer_from_data,
    build_answer,
    later_change,
    unseen,
)
from tunewright.probes.throughput.size_sweep import (
    BatchSizeTerms,
    KeptRows,
    describe_settings,
    has_answer,
    knee,
    measure,
    sweep,
    watch_rows,
)
from tunewright.probes.throughput.subject import Subject, subject_of
from tunewright.progress.choose import Wanted, lines_for
from tunewright.store.provenance import digest


def batch_size(
    what: Workload | Callable[..., Any],
    *,
    fixed: Mapping[str, Value] | None = None,
    terms: BatchSizeTerms | None = None,
    cost: Cost | None = None,
    store: str | Path | None = "tuning.db",
    again: bool = False,
    progress: Wanted = "auto",
) -> BatchSizes:
    """Find the batch sizes that fit, the throughput of each, and the one to use.

    Measured sizes are valid until model, optimizer, precision, device, processes, example shape or
    the source of the step change.

        answer = tw.probes.batch_size(make_step, terms=tw.probes.BatchSizeTerms(largest=4096))
        answer.headline, answer.settings

    Args:
        what: a factory `make_step(batch_size)` whose result does one whole training step each time
            it is called, or a workload whose training function uses `run.steps` (`pipeline.fit`
            does) or whose command prints its steps.
        fixed: its other hyperparameters.
        terms: which sizes, how many processes, how much memory; None: the defaults.
        cost: prices and the steps to the goal, for the time and price of a training.
        store: where answers are stored; a workload has its own; None: nowhere.
        again: measure anew although the store has an answer.
        progress: as for `tw.run`; every size is a message.
    """
    started = time.monotonic()
    wanted = terms or BatchSizeTerms()
    _refuse_torchrun()
    subject = subject_of(what, fixed)
    kept_in = what.store if isinstance(what, Workload) else store
    processes, memory_mb = wanted.processes, wanted.bounds.memory_mb
    if subject.kind == "command" and processes > 1:
        raise DesignError("throughput.processes_of_command", processes=processes)
    largest = subject_of(what, {**(fixed or {}), **wanted.longest}) if wanted.longest else None
    budget = what.budget if isinstance(what, Workload) else None
    with through(kept_in, "probe batch-size", trials=0, budget=budget):
        answer = probe_rig(
            partial(ProcessRig, subject, processes, memory_mb),
            subject,
            wanted,
            cost or Cost(),
            kept_in,
            again=again,
            say=lines_for(progress),
            started=started,
            alone=partial(ProcessRig, subject, 1, memory_mb) if processes > 1 else None,
            longest=None if largest is None else partial(ProcessRig, largest, processes, memory_mb),
            ahead=_second_needed(subject, wanted)
            and (again or not has_answer(kept_in, subject.name)),
        )
    later = later_change(
        kept_in if isinstance(what, Workload) else None, answer.batch_name, answer.chosen
    )
    return replace(answer, notes=(*answer.notes, later))


def _refuse_torchrun() -> None:
    launched = int(os.environ.get("WORLD_SIZE", "1"))
    if launched > 1:
        raise DesignError("throughput.under_torchrun", processes=launched)


def probe_rig(
    open_rig: OpenRig,
    subject: Subject,
    terms: BatchSizeTerms,
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
    with contextlib.closing(Rigs(open_rig, terms.processes == 1, ahead)) as rigs:
        try:
            device, first, seen = rigs.use(lambda rig: _look(rig, terms.first))
        except OutOfMemory as error:
            raise WorkloadError(
                "throughput.nothing_fits",
                subject=subject.name,
                smallest=terms.first,
                error=error,
            ) from None
        identity = {
            **seen,
            "fixed": describe_settings(subject.configuration),
            "code": _code(subject),
        }
        kept = KeptRows(store, subject.name, identity, terms.key())
        if kept.answer is not None and not again:
            return replace(answer_from_data(kept.answer, cost), from_record=True)
        notes = kept.changed
        for note in notes:
            say(note.text)
        if again:
            kept = KeptRows(None, subject.name, identity, terms.key())
        if longest is None:
            largest = find_largest(rigs, terms.bounds, device, first, say)
        else:
            say(Message("probe.progress.largest_with", {"longest": terms.longest_shown}).text)
            second = _with_longest(longest, subject, terms, say)
            say(Message("probe.progress.largest_without").text)
            bounds = replace(terms.bounds, most=second.batch_size)
            largest = both(
                find_largest(rigs, bounds, device, first, say), second, terms.longest_shown
            )
        rows = sweep(rigs, subject, terms.plan, largest, kept, say)
        best = knee([row.rate for row in rows])
        if device.kind == "cuda" and subject.kind != "command":
            rows = watch_rows(rigs, rows, best, largest)
    efficiency = None
    if alone is not None:
        with contextlib.closing(alone()) as rig:
            alone_row = measure(rig, max(1, best // terms.processes), terms.rule)
        single = alone_row.rate.examples_per_s
        together = next(r for r in rows if r.batch_size == best).rate.examples_per_s
        efficiency = together / (terms.processes * single)
    answer = build_answer(
        subject.name,
        subject.batch_name,
        rows=rows,
        best=best,
        largest=largest,
        cost=cost,
        identity=identity,
        processes=terms.processes,
        efficiency=efficiency,
    )
    answer = replace(
        answer,
        notes=(*notes, *answer.notes),
        unseen=tuple(unseen(subject.kind, rows, terms.rule)),
        seconds=time.monotonic() - started if started else 0.0,
    )
    if again and store is not None:
        kept = KeptRows(store, subject.name, identity, terms.key())
    kept.conclude(as_document(answer))
    return answer


def _second_needed(subject: Subject, terms: BatchSizeTerms) -> bool:
    """Whether a second process will surely be needed, so that it may be started with the first."""
    return subject.kind != "command" and terms.processes == 1 and terms.most > terms.first


def _with_longest(
    open_rig: OpenRig, subject: Subject, terms: BatchSizeTerms, say: Callable[[str], None]
) -> Largest:
    """The largest size of the longest examples, found like any other."""
    with contextlib.closing(Rigs(open_rig, terms.processes == 1)) as rigs:
        try:
            device, first, _ = rigs.use(lambda rig: _look(rig, terms.first))
        except OutOfMemory as error:
            raise WorkloadError(
                "throughput.longest_does_not_fit",
                subject=subject.name,
                longest=terms.longest_shown,
                smallest=terms.first,
                error=error,
            ) from None
        return find_largest(rigs, terms.bounds, device, first, say)


def _look(rig: Rig, smallest: int) -> tuple[Device, MemoryPoint, dict[str, str]]:
    """Where it runs, what the smallest size takes, and what is being trained."""
    device = rig.build(smallest)
    return device, MemoryPoint(smallest, rig.run(SETTLE).reserved_mb or 0.0), rig.identify()


def _code(subject: Subject) -> str:
    """The source files of what is stepped: an edit of the step is another step."""
    return digest(sources(subject.function))[:12] or "unknown"
