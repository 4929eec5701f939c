"""What to change about an input pipeline that training waits for, each advice by what was measured.

    reads that wait         put the data next to the training
    the same result again   do it once and save it, or keep it in memory
    random, and slow        do it on the device, or with more workers
    the same on a batch     batch first, transform the whole batch
    entries nobody uses     drop them before anything is done to them

A stage that takes little, or whose trait could not be tried, gets no advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tunewright.messages import Message
from tunewright.probes.throughput.loader_ladder import COPY, Stage

LARGE = 0.3  # of the work on a batch, from which a stage is worth a change
WAITS = 0.5  # of a stage's time off the processor: it waits, for a disk or a network
FASTER = 2.0  # on a whole batch, from which batching first is worth it
FITS = 0.25  # of the free memory that a cache may take
HEAVY = 0.1  # of a batch's bytes, from which unused features matter
READ = "read"


@dataclass(frozen=True)
class DataSize:
    """What the examples would take in memory, as they leave the dataset."""

    all_mb: float
    free_mb: float


def advised(
    stages: Sequence[Stage], unused: Mapping[str, float], size: DataSize | None
) -> tuple[Message, ...]:
    """The advice for a pipeline that training waits for; the largest stage first."""
    loading = [stage for stage in stages if stage.name != COPY]
    total = sum(stage.seconds_per_batch for stage in loading)
    found: list[Message] = []
    for stage in sorted(loading, key=lambda each: -each.seconds_per_batch):
        share = stage.seconds_per_batch / total if total else 0.0
        if share < LARGE:
            continue
        facts = {"stage": stage.name, "ms": stage.seconds_per_batch * 1e3, "share": share}
        found += _of_stage(stage, facts, size)
    heavy = {name: part for name, part in unused.items() if part >= HEAVY}
    if heavy:
        facts = {"names": sorted(heavy), "share": sum(heavy.values())}
        found.append(Message("probe.input_advice.drop_unused", facts))
    return tuple(found)


def _of_stage(stage: Stage, facts: Mapping[str, object], size: DataSize | None) -> list[Message]:
    found = []
    waits = stage.waiting_share is not None and stage.waiting_share >= WAITS
    if waits and stage.name == READ:
        more = {"waiting_share": stage.waiting_share}
        found.append(Message("probe.input_advice.colocate", {**facts, **more}))
    if stage.batched_speedup is not None and stage.batched_speedup >= FASTER:
        more = {"times": stage.batched_speedup}
        found.append(Message("probe.input_advice.batch_first", {**facts, **more}))
    if stage.same_again and size is not None and size.all_mb <= FITS * size.free_mb:
        more = {"all_mb": size.all_mb, "free_mb": size.free_mb}
        found.append(Message("probe.input_advice.cache", {**facts, **more}))
    elif stage.same_again and not (waits and stage.name == READ):
        found.append(Message("probe.input_advice.offline", facts))
    if stage.same_again is False:
        found.append(Message("probe.input_advice.on_device", facts))
    return found
