"""Does training wait for its data, and which stage of the input pipeline is to blame?

    answer = tunewright.probes.throughput.input_bound(make_step, batch_size=256)     # or a Workload

Three signs: the share of the time spent on asking for the next batch, how much faster steps on one
cached batch are, and how often the host itself waits for the device. Then the input pipeline alone,
with more and more workers, and taken apart into its stages, up to the copy of a batch to the device
(playbook, "Optimizing the input pipeline").
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from tunewright.budgets.gate import through
from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Answer, as_document
from tunewright.probes.throughput.loader_ladder import COPY, PIN, Depth, Loader, Rung, Stage
from tunewright.probes.throughput.observed import Waits
from tunewright.probes.throughput.rig import OutOfMemory, ProcessRig, Ran
from tunewright.probes.throughput.subject import EXAMPLE, Subject, subject_of
from tunewright.probes.throughput.timing import TimingRule, settle
from tunewright.progress.choose import Wanted, lines_for
from tunewright.store.store import Store

# ---- what to change about an input pipeline that training waits for, each advice by what was
# measured.
#
#     reads that wait         put the data next to the training
#     the same result again   do it once and save it, or keep it in memory
#     random, and slow        do it on the device, or with more workers
#     the same on a batch     batch first, transform the whole batch
#     entries nobody uses     drop them before anything is done to them
#
# A stage that takes little, or whose trait could not be tried, gets no advice.


_LARGE = 0.3  # of the work on a batch, from which a stage is worth a change
_WAITS = 0.5  # of a stage's time off the processor: it waits, for a disk or a network
_FASTER = 2.0  # on a whole batch, from which batching first is worth it
_FITS = 0.25  # of the free memory that a cache may take
_HEAVY = 0.1  # of a batch's bytes, from which unused features matter
_READ = "read"


@dataclass(frozen=True)
class DataSize:
    """What the examples would take in memory, as they leave the dataset."""

    all_mb: float
    free_mb: float


def advice_for(
    stages: Sequence[Stage], unused: Mapping[str, float], size: DataSize | None
) -> tuple[Message, ...]:
    """The advice for a pipeline that training waits for; the largest stage first."""
    loading = [stage for stage in stages if stage.name != COPY]
    total = sum(stage.seconds_per_batch for stage in loading)
    advice: list[Message] = []
    for stage in sorted(loading, key=lambda each: -each.seconds_per_batch):
        share = stage.seconds_per_batch / total if total else 0.0
        if share < _LARGE:
            continue
        facts = {"stage": stage.name, "ms": stage.seconds_per_batch * 1e3, "share": share}
        advice += _of_stage(stage, facts, size)
    heavy = {name: part for name, part in unused.items() if part >= _HEAVY}
    if heavy:
        facts = {"names": sorted(heavy), "share": sum(heavy.values())}
        advice.append(Message("probe.input_advice.drop_unused", facts))
    return tuple(advice)


def _of_stage(stage: Stage, facts: Mapping[str, object], size: DataSize | None) -> list[Message]:
    advice = []
    waits = stage.waiting_share is not None and stage.waiting_share >= _WAITS
    if waits and stage.name == _READ:
        more = {"waiting_share": stage.waiting_share}
        advice.append(Message("probe.input_advice.colocate", {**facts, **more}))
    if stage.batched_speedup is not None and stage.batched_speedup >= _FASTER:
        more = {"times": stage.batched_speedup}
        advice.append(Message("probe.input_advice.batch_first", {**facts, **more}))
    if stage.same_again and size is not None and size.all_mb <= _FITS * size.free_mb:
        more = {"all_mb": size.all_mb, "free_mb": size.free_mb}
        advice.append(Message("probe.input_advice.cache", {**facts, **more}))
    elif stage.same_again and not (waits and stage.name == _READ):
        advice.append(Message("probe.input_advice.offline", facts))
    if stage.same_again is False:
        advice.append(Message("probe.input_advice.on_device", facts))
    return advice


# ---- does the input stall at regular intervals? The waiting times correlated with themselves.
#
# A loader whose workers each need longer than the steps between their turns is late once per
# round of its workers; a shuffle buffer or a file that is opened stalls at its own interval.


_CORRELATED = 0.5  # autocorrelation from which a period is believed
LONGEST = 128  # steps of a period looked for
_FEWEST_PERIODS = 4  # in the series, for a period to be seen
_LATE = 4.0  # times the median: a stall rather than a wait


@dataclass(frozen=True)
class Stalls:
    """A regular stall."""

    every: int  # steps
    correlation: float
    seconds: float  # that a stall lasts, in the median


def find_stalls(waits: Sequence[float]) -> Stalls | None:
    """The period of regular stalls, or None.

    >>> find_stalls(([0.0] * 7 + [1.0]) * 20).every
    8
    """
    series = np.asarray(waits, dtype=float)
    longest = min(LONGEST, len(series) // _FEWEST_PERIODS)
    if longest < 2 or series.max(initial=0.0) <= 0:
        return None
    # how long a stall lasts does not matter, only when it comes
    late = series > max(_LATE * float(np.median(series)), 0.25 * float(series.max()))
    marks = late.astype(float)
    if not 2 * _FEWEST_PERIODS <= 2 * marks.sum() <= len(series):
        return None
    centred = marks - marks.mean()
    power = float(centred @ centred)
    lags = np.arange(2, longest + 1)
    correlation = np.array([float(centred[:-lag] @ centred[lag:]) / power for lag in lags])
    # a shorter series of products: made comparable over lags
    correlation *= len(series) / (len(series) - lags)
    best = float(correlation.max())
    chance = 4 / np.sqrt(len(series))  # four deviations of white noise, over all lags
    if best < max(_CORRELATED, chance):
        return None
    first = int(np.argmax(correlation >= 0.8 * best))  # its multiples correlate as well
    return Stalls(int(lags[first]), best, float(np.median(series[late])))


# ---- input bound


Verdict = Literal["fine", "watch", "input_bound", "synchronised", "cannot_judge"]

_BLOCK = 50  # steps of a window
_CONFIRMED = 1.1  # real over cached
_BOUND, _WATCH = 0.10, 0.03  # shares of waiting
_TOO_OFTEN = 1.0  # host waits per step
_PROFILED = 10  # steps
_LADDER = (0, 1, 2, 4, 8, 16)
_ALONE = 2  # windows that the loader is watched alone for, at each number of workers and in stages
_ENOUGH = 0.95  # of the best rung: the fewest workers that reach it
_FACTORS = (2, 4, 8)  # batches ahead of each worker; 2 is torch's own
_SHORTER = 0.03  # of the time that a deeper prefetch must save to be advised
_TRACED = 10  # steps
_NO_BATCHES = Message("probe.input_bound.no_batches")


@dataclass(frozen=True, kw_only=True)
class InputBound(Answer):
    """What the probe found."""

    probe: ClassVar[str] = "input_bound"

    subject: str  # what was probed
    batch_size: int  # examples per step
    verdict: Verdict  # whether training waits for its data
    steps: int  # on real input
    time_per_step_s: float  # on real input
    waiting_share: float | None  # None: no source of batches was seen
    slowdown: float | None  # real over cached steps
    host_waits: Waits  # per step
    ladder: tuple[Rung, ...]  # the input pipeline alone; empty: no DataLoader was seen
    stages: tuple[Stage, ...]  # in one process
    workers: int | None  # that the training uses now
    enough_workers: int | None  # the fewest with which the input keeps up, if any do
    stalls: Stalls | None  # steps that waited far longer than the others; None: not seen
    notes: tuple[Message, ...] = field(default=())  # what a reader should know
    depths: tuple[Depth, ...] = ()  # waiting by prefetch factor, where training waits for workers
    prefetch_factor: int | None = None  # that the training uses now
    advice: tuple[Message, ...] = ()  # what to change, by what was measured of a stage
    trace: str = ""  # the file of a profiler's trace, where one was asked for

    @property
    def slow_stage(self) -> Stage | None:
        """The stage with most of the time."""
        return max(self.stages, key=lambda stage: stage.seconds_per_batch, default=None)

    @property
    def copy_share(self) -> float:
        """The time that the copy of a batch to the device takes, of a step; it may overlap."""
        copies = (stage.seconds_per_batch for stage in self.stages if stage.name == COPY)
        return sum(copies) / self.time_per_step_s if self.time_per_step_s else 0.0

    @property
    def message(self) -> Message:
        """The answer as a code with its facts."""
        waits = self.host_waits
        often = {"per_step": waits.per_step, "places": [place for place, _ in waits.places]}
        facts = {
            "waiting_share": self.waiting_share,
            "slowdown": self.slowdown,
            "copy_share": self.copy_share,
            "slow_stage": self._slow_stage_facts,
            "host_waits": often if waits.per_step >= _TOO_OFTEN else None,
        }
        if self.waiting_share is None or self.slowdown is None:
            return Message("probe.input_bound.unknown", facts)
        code = self.verdict if self.verdict in ("input_bound", "watch") else "fine"
        return Message(f"probe.input_bound.{'copies' if self._copies else code}", facts)

    @property
    def _slow_stage_facts(self) -> dict[str, Any] | None:
        """The slowest stage with its share of the work, where the input is what to look at."""
        stage = self.slow_stage
        if stage is None or self.verdict not in ("input_bound", "watch") or self._copies:
            return None
        total = sum(each.seconds_per_batch for each in self.stages)
        return {"name": stage.name, "share": stage.seconds_per_batch / total if total else 0.0}

    @property
    def _copies(self) -> bool:
        """Whether it is the copy that needs a look, and not the loader."""
        return self.verdict == "watch" and self.copy_share > _BOUND

    @property
    def settings(self) -> Mapping[str, Value]:
        """More workers, and more batches ahead of each, where they would do."""
        if self.verdict != "input_bound":
            return {}
        proposed: dict[str, Value] = {}
        if self.enough_workers is not None and self.enough_workers != self.workers:
            proposed["num_workers"] = self.enough_workers
        deeper = deep_enough(self.depths, self.prefetch_factor)
        return proposed if deeper is None else {**proposed, "prefetch_factor": deeper}

    @property
    def missing(self) -> tuple[Message, ...]:
        """What a judgement would need."""
        return (_NO_BATCHES,) if self.waiting_share is None else ()


def input_bound(
    what: Workload | Callable[..., Any],
    *,
    batch_size: int | None = None,
    fixed: Mapping[str, Value] | None = None,
    steps: int = 200,
    workers: Sequence[int] | None = None,
    processes: int = 1,
    rule: TimingRule | None = None,
    trace: str | Path | None = None,
    store: str | Path | None = "tuning.db",
    progress: Wanted = "auto",
) -> InputBound:
    """Find out whether training waits for its data, and why.

    Batches are seen where they come from a `DataLoader`, through `pipeline.fit`, or through
    `probes.watched(batches)`. Steps on real input are timed, as many on one cached batch, then the
    loader alone with several numbers of workers, and where training waits for workers, with more
    batches ahead of each.

    Args:
        what: a factory `make_step(batch_size)` or a workload, as for `probes.batch_size`.
        batch_size: examples per step; None: the workload's own.
        fixed: its other hyperparameters.
        steps: on real input, at least.
        workers: numbers of loader processes to try; None: by the cores of this machine.
        processes: that train together.
        rule: how carefully a step is timed; None: the default.
        trace: a file for a profiler's trace of ten steps, which Perfetto opens.
        store: where answers are stored; a workload has its own; None: nowhere.
        progress: as for `tw.run`.
    """
    say = lines_for(progress)
    subject = subject_of(what, fixed)
    if subject.kind == "command":
        raise WorkloadError("input_bound.command", subject=subject.name, example=EXAMPLE)
    size = _size(subject, what, batch_size)
    if steps < _BLOCK:
        raise DesignError("input_bound.too_few_steps", steps=steps, fewest=_BLOCK)
    ladder = _LADDER if workers is None else tuple(workers)
    if any(count < 0 for count in ladder):
        raise DesignError("input_bound.bad_workers", ladder=list(ladder))
    traced = None if trace is None else Path(trace)
    if traced is not None and not traced.absolute().parent.is_dir():
        raise DesignError("input_bound.trace_folder", path=str(traced))
    timing = rule or TimingRule()
    watched = _ALONE * timing.window_s
    rungs: list[Rung] = []
    stages: list[Stage] = []
    depths: list[Depth] = []
    kept_in = what.store if isinstance(what, Workload) else store
    budget = what.budget if isinstance(what, Workload) else None
    passing = through(kept_in, "probe input", trials=0, budget=budget)
    with passing, contextlib.closing(ProcessRig(subject, processes)) as rig:
        try:
            rig.build(size)
            settle(lambda windows: rig.run(windows).seconds, timing)
            real, cached = _run_both(rig, steps, say)
            looked = rig.run([_PROFILED], count_waits=True)
            if traced is not None:
                rig.trace(_TRACED, traced)
        except OutOfMemory as error:
            raise WorkloadError(
                "input_bound.out_of_memory", subject=subject.name, size=size, error=error
            ) from None
        loader, free_mb = rig.loader()
        if loader is not None:
            now = loader.workers
            usable = sorted({now, *(n for n in ladder if n <= max(_cores(), now))})
            say(Message("probe.progress.loader", {"workers": usable}).text)
            rungs = rig.climb(usable, watched)
            stages = rig.stages(watched)
            step_s = statistics.median(cached.seconds) / _BLOCK
            loading = now or _fewest(rungs, 1 / step_s) or 0
            if loading and _waiting_share(real) > _WATCH:
                say(Message("probe.progress.prefetch", {"factors": list(_FACTORS)}).text)
                factors = sorted({*_FACTORS, loader.prefetch_factor or _FACTORS[0]})
                depths = rig.depths(loading, factors, step_s, watched)
    answer = build_answer(
        subject.name,
        size,
        real=real,
        cached=cached,
        waits=looked.host_waits or Waits(0.0),
        ladder=rungs,
        stages=stages,
        loader=loader,
        depths=depths,
        unused=looked.unused,
        free_mb=free_mb,
    )
    answer = replace(answer, trace="" if traced is None else str(traced))
    if kept_in is not None:
        with Store.open(kept_in) as opened:
            opened.add_probe(answer.probe, subject.name, as_document(answer))
    return answer


def build_answer(
    subject: str,
    batch_size: int,
    real: Ran,
    cached: Ran,
    waits: Waits,
    ladder: Sequence[Rung],
    stages: Sequence[Stage],
    loader: Loader | None,
    *,
    depths: Sequence[Depth] = (),
    unused: Mapping[str, float] | None = None,
    free_mb: float | None = None,
) -> InputBound:
    """The verdict from windows of 50 steps on real input and as many on a cached batch."""
    from tunewright.pipeline.throughput import Throughput

    steps, seconds = _BLOCK * len(real.seconds), sum(real.seconds)
    each = [wait for window in real.waits for wait in window]
    share = ratio = None
    verdict: Verdict = "cannot_judge"
    if each:
        measured = Throughput(steps, seconds, sum(each), batch_size)
        share = measured.waiting_share
        ratio = statistics.median(real.seconds) / statistics.median(cached.seconds)
        verdict = measured.verdict
        if verdict == "input_bound" and ratio <= _CONFIRMED:
            verdict = "watch"
        elif verdict in ("fine", "watch") and ratio > _CONFIRMED and share > _WATCH:
            verdict = "input_bound"
    if waits.per_step >= _TOO_OFTEN and verdict in ("fine", "cannot_judge"):
        verdict = "synchronised"
    copy_s = sum(stage.seconds_per_batch for stage in stages if stage.name == COPY)
    if verdict == "fine" and copy_s * steps > _BOUND * seconds:
        verdict = "watch"
    needed = len(cached.seconds) * _BLOCK / sum(cached.seconds)  # batches per second
    fewest, workers = _fewest(ladder, needed), None if loader is None else loader.workers
    held = None if loader is None else loader.examples_mb
    data = None if held is None or free_mb is None else DataSize(held, free_mb)
    stalls = find_stalls(each) if share is not None and share > _WATCH else None
    return InputBound(
        subject=subject,
        batch_size=batch_size,
        verdict=verdict,
        steps=steps,
        time_per_step_s=seconds / steps,
        waiting_share=share,
        slowdown=ratio,
        host_waits=waits,
        ladder=tuple(ladder),
        stages=tuple(stages),
        workers=workers,
        enough_workers=_best(ladder) if fewest is None else fewest,
        stalls=stalls,
        notes=(
            *_notes(ladder, fewest, needed, verdict),
            *_stall_notes(stalls, loader),
            *_copy_notes(copy_s, seconds / steps, any(stage.name == PIN for stage in stages)),
        ),
        depths=tuple(depths),
        prefetch_factor=None if loader is None else loader.prefetch_factor,
        advice=advice_for(stages, unused or {}, data) if verdict == "input_bound" else (),
    )


def deep_enough(depths: Sequence[Depth], now_factor: int | None) -> int | None:
    """The fewest batches ahead that surely save time over the training's own; None if none do.

    >>> deep_enough([Depth(2, 0.30), Depth(4, 0.10), Depth(8, 0.095)], now_factor=None)
    4
    """
    waits = {depth.prefetch_factor: depth.waiting_share for depth in depths}
    now = waits.get(now_factor or _FACTORS[0])
    if now is None:
        return None
    least = min(waits.values())
    if now - least < _SHORTER:
        return None
    return min(factor for factor, share in waits.items() if share < least + _SHORTER / 2)


def _waiting_share(ran: Ran) -> float:
    """The share of the time spent on waiting for batches."""
    return sum(wait for window in ran.waits for wait in window) / sum(ran.seconds)


def _fewest(ladder: Sequence[Rung], needed: float) -> int | None:
    """The fewest workers that load as many batches per second as training can take.

    Without workers loading and training take turns, so that none never keeps up.
    """
    enough = (rung.workers for rung in ladder if rung.workers and rung.batches_per_s >= needed)
    return min(enough, default=None)


def _run_both(rig: ProcessRig, steps: int, say: Callable[[str], None]) -> tuple[Ran, Ran]:
    """Windows on real input and on one cached batch, half of the real ones before and after.

    While the cached ones run, loading continues ahead: the first real window after them is
    flattered and not counted.
    """
    half = max(1, -(-steps // (2 * _BLOCK)))
    say(Message("probe.progress.steps", {"steps": 2 * half * _BLOCK}).text)
    started = time.monotonic()
    modes = [False] * half + [True] * (2 * half) + [False] * (half + 1)
    ran = rig.run([_BLOCK] * len(modes), modes)
    after = 3 * half + 1
    say(Message("probe.progress.done", {"seconds": time.monotonic() - started}).text)

    def part(chosen: list[int]) -> Ran:
        return Ran(
            tuple(ran.seconds[i] for i in chosen),
            tuple(ran.waits[i] for i in chosen),
            ran.peak_mb,
            ran.reserved_mb,
        )

    real = [*range(half), *range(after, after + half)]
    return part(real), part(list(range(half, 3 * half)))


def _best(ladder: Sequence[Rung]) -> int | None:
    """The fewest workers within 5 % of the fastest."""
    if not ladder:
        return None
    best = max(rung.batches_per_s for rung in ladder)
    return min(rung.workers for rung in ladder if rung.batches_per_s >= _ENOUGH * best)


def _notes(
    ladder: Sequence[Rung],
    fewest: int | None,
    needed: float,
    verdict: Verdict,
) -> list[Message]:
    if not ladder or fewest is not None or verdict != "input_bound":
        return []
    best = max((rung.batches_per_s for rung in ladder if rung.workers), default=0.0)
    facts = {"needed": needed, "best": best}
    return [Message("probe.input_bound.no_workers_keep_up", facts)]


def _stall_notes(stalls: Stalls | None, loader: Loader | None) -> list[Message]:
    if stalls is None:
        return []
    facts = {
        "every": stalls.every,
        "ms": stalls.seconds * 1e3,
        "at_epoch": loader is not None and stalls.every == loader.epoch,
        "workers": None if loader is None else loader.workers,
    }
    return [Message("probe.input_bound.stalls", facts)]


def _copy_notes(copy_s: float, step_s: float, pinned: bool) -> list[Message]:
    if copy_s <= _BOUND * step_s:
        return []
    facts = {"ms": copy_s * 1e3, "share": copy_s / step_s, "pinned": pinned}
    return [Message("probe.input_bound.slow_copy", facts)]


def _size(subject: Subject, what: object, batch_size: int | None) -> int:
    given = batch_size
    if given is None:
        given_here = subject.configuration.get(subject.batch_name)
        default = (
            what.accepts.defaults.get(subject.batch_name) if isinstance(what, Workload) else None
        )
        size = given_here or default
        given = size if isinstance(size, int) else None
    if given is None or given < 1:
        raise DesignError("input_bound.no_batch_size", batch_size=batch_size, subject=subject.name)
    return given


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
