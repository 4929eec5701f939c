"""How fast is each batch size, and up to which does a larger one pay?

Sizes are timed upward until two lie beyond the knee, each in its process.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.messages import Message
from tunewright.probes.throughput.largest_size import Bounds, Largest
from tunewright.probes.throughput.observed import differences
from tunewright.probes.throughput.rig import CannotStep, OutOfMemory, Ran, Rig, Rigs, Work
from tunewright.probes.throughput.subject import Subject
from tunewright.probes.throughput.timing import RunWindows, Timing, TimingRule, time_step
from tunewright.store.store import Store

# ---- what the batch-size probe is asked: which sizes, on how many processes, how carefully


MOST = 2**20  # examples per step; nobody trains with more


@dataclass(frozen=True, kw_only=True)
class BatchSizeTerms:
    """What `tw.probes.batch_size` is asked; wrong fields are refused at once.

    Sizes are doubled from `smallest` until a doubling no longer pays, or up to the largest that
    fits with `everything`; or exactly `sizes` are measured. `batch_size` counts the examples of
    all `processes` together.

    >>> BatchSizeTerms(sizes=[64, 16]).first, BatchSizeTerms(processes=4).first
    (16, 4)
    >>> BatchSizeTerms(smallest=64, largest=8)
    Traceback (most recent call last):
    tunewright.errors.DesignError: largest=8 is below smallest=64.
    """

    smallest: int | None = None  # begin here; None: the least of `sizes`, else one per process
    largest: int | None = None  # go no further; None: until memory or time ends it
    sizes: Sequence[int] = ()  # measure exactly these; empty: doubled from the smallest
    everything: bool = False  # measure all sizes that fit, not only up to the knee
    # hyperparameters with which examples are largest, such as {"sequence_length": 4096}: sizes are
    # timed without them, but must fit with them too
    longest: Mapping[str, Value] = field(default_factory=dict)
    processes: int = 1  # that train together; torchrun's variables are set for them
    memory_gb: float | None = None  # the most memory to take, on a CPU too; None: what is there
    rule: TimingRule = field(default_factory=TimingRule)  # how long and how often a size is timed
    longest_step_s: float = 20.0  # a size whose step takes longer is not tried

    def __post_init__(self) -> None:
        problems: list[Message] = []
        if self.processes < 1:
            problems.append(Message("throughput.no_process", {"processes": self.processes}))
        if self.memory_gb is not None and self.memory_gb <= 0:
            problems.append(Message("throughput.bad_memory_limit", {"memory_gb": self.memory_gb}))
        wrong = [size for size in (self.first, *self.sizes) if size < 1]
        if wrong:
            problems.append(Message("throughput.bad_size", {"size": wrong[0]}))
        uneven = [s for s in (self.first, *self.sizes) if s % max(self.processes, 1)]
        if uneven:
            problems.append(
                Message("throughput.uneven_size", {"size": uneven[0], "processes": self.processes})
            )
        if self.most < self.first:
            facts = {"largest": self.most, "smallest": self.first}
            problems.append(Message("throughput.largest_below_smallest", facts))
        if problems:
            raise DesignError.several(problems)

    @property
    def first(self) -> int:
        """The size that is tried first."""
        if self.smallest is not None:
            return self.smallest
        return min(self.sizes) if self.sizes else max(self.processes, 1)

    @property
    def most(self) -> int:
        """The size beyond which none is tried."""
        return min(self.largest or MOST, max(self.sizes, default=MOST))

    @property
    def plan(self) -> Plan:
        """Which sizes are timed, and how carefully."""
        return Plan(tuple(sorted(set(self.sizes))), self.first, self.everything, self.rule)

    @property
    def bounds(self) -> Bounds:
        """Where the largest size is looked for."""
        memory_mb = None if self.memory_gb is None else self.memory_gb * 1024
        return Bounds(self.most, self.processes, memory_mb, self.longest_step_s)

    @property
    def longest_shown(self) -> str:
        """The hyperparameters of the largest examples, in words."""
        return describe_settings(self.longest) if self.longest else ""

    def key(self) -> dict[str, Any]:
        """What an answer in the store was asked; another key is measured anew."""
        return {
            "sizes": tuple(sorted(set(self.sizes))),
            "smallest": self.first,
            "most": self.most,
            "everything": self.everything,
            "processes": self.processes,
            "memory_gb": self.memory_gb,
            "rule": asdict(self.rule),
            "longest_step_s": self.longest_step_s,
            "longest": self.longest_shown,
        }


@dataclass(frozen=True)
class Plan:
    """Which sizes are timed, and how carefully."""

    sizes: tuple[int, ...]  # exactly these; none: doubled from the smallest
    smallest: int
    everything: bool  # not only up to the knee
    rule: TimingRule


def describe_settings(configuration: Mapping[str, Value]) -> str:
    """A configuration in words, sorted by name.

    >>> describe_settings({"width": 64, "depth": 2})
    'depth=2, width=64'
    """
    return ", ".join(f"{name}={value!r}" for name, value in sorted(configuration.items())) or "none"


# ---- up to which batch size does a larger one pay? The knee of the throughput curve.
#
# While the device is not full, doubling the batch nearly doubles the throughput. The knee is the
# end of the last doubling that surely gains 10 %: beyond it a step only takes longer, and nothing
# is won (playbook, "Determining the feasible batch sizes and estimating training throughput").


GAIN = 1.10  # a doubling must surely gain this much to be worth it
FREE = 1.8  # above this, the larger batch is nearly free


@dataclass(frozen=True)
class Rate:
    """The throughput at one batch size, with a 95 % interval."""

    batch_size: int
    examples_per_s: float
    low: float
    high: float


def gain(small: Rate, large: Rate) -> tuple[float, float]:
    """The ratio of two throughputs per doubling, and its lower 95 % bound.

    >>> [round(x, 2) for x in gain(Rate(8, 100, 98, 102), Rate(16, 150, 147, 153))]
    [1.5, 1.46]
    """
    doublings = math.log2(large.batch_size / small.batch_size)
    log_ratio = math.log(large.examples_per_s / small.examples_per_s)
    below = math.hypot(
        math.log(large.examples_per_s / large.low), math.log(small.high / small.examples_per_s)
    )
    return math.exp(log_ratio / doublings), math.exp((log_ratio - below) / doublings)


def pays(small: Rate, large: Rate) -> bool:
    """Whether the larger size surely gains 10 % per doubling."""
    return gain(small, large)[1] >= GAIN


def knee(rates: Sequence[Rate]) -> int:
    """The end of the last doubling that pays, scanning upward from the smallest size.

    One size that fails is passed over if the next makes up for it: sizes that suit the device badly
    exist, and so do neighbours that take the machine for a while.

    >>> rates = [Rate(b, r, 0.99 * r, 1.01 * r) for b, r in ((8, 100), (16, 190), (32, 195))]
    >>> knee(rates)
    16
    """
    at = 0
    while at + 1 < len(rates):
        further = [n for n in (at + 1, at + 2) if n < len(rates) and pays(rates[at], rates[n])]
        if not further:
            break
        at = further[0]
    return rates[at].batch_size


def passed(rates: Sequence[Rate]) -> bool:
    """Whether two sizes beyond the knee have been seen, so that no more are needed."""
    return sum(rate.batch_size > knee(rates) for rate in rates) >= 2


# ---- one batch size, measured: time per step, throughput, memory, with and without its input


_WAITED = 0.01  # of the time: less is not worth a measurement without the input pipeline
_WARMING, _PROFILED = 3, 3  # steps


@dataclass(frozen=True)
class SizeRow:
    """What was measured at one batch size."""

    batch_size: int
    timing: Timing
    peak_mb: float | None  # None: it cannot be seen
    reserved_mb: float | None
    waiting_share: float | None  # of the time spent on asking for batches; None: none were seen
    cached: Timing | None = None  # steps on one batch again and again
    busy_share: float | None = None  # of the device; CUDA only
    host_waits: float | None = None  # per step

    @property
    def rate(self) -> Rate:
        """The throughput with its interval."""
        return _rate(self.batch_size, self.timing)

    @property
    def cached_rate(self) -> Rate | None:
        """The throughput without the input pipeline, where that was worth measuring."""
        return None if self.cached is None else _rate(self.batch_size, self.cached)

    def pooled(self, other: SizeRow) -> SizeRow:
        """Both measurements of the size together."""
        steps = self.timing.steps_per_window
        scale = steps / other.timing.steps_per_window
        windows = (*self.timing.window_s, *(s * scale for s in other.timing.window_s))
        timing = Timing(steps, windows, self.timing.steady and other.timing.steady)
        return replace(self, timing=timing)


def measure(rig: Rig, batch_size: int, rule: TimingRule) -> SizeRow:
    """Time the steps of one size on a rig; raises OutOfMemory where it does not fit."""
    rig.build(batch_size)
    last: list[Ran] = []

    def windows(cached: bool) -> RunWindows:
        def run(steps: Sequence[int]) -> Sequence[float]:
            last[:] = [rig.run(steps, [cached] * len(steps))]
            return last[0].seconds

        return run

    timing = time_step(windows(False), rule)
    ran = last[0]
    waits = [sum(window) for window in ran.waits]
    saw = any(ran.waits)
    share = sum(waits) / sum(ran.seconds) if saw else None
    cached = time_step(windows(True), rule) if share is not None and share > _WAITED else None
    return SizeRow(batch_size, timing, ran.peak_mb, ran.reserved_mb, share, cached)


def _measure_synthetic(rig: Rig, row: SizeRow, rule: TimingRule) -> SizeRow:
    """The row with the time of steps that a factory makes without its input pipeline."""
    rig.build(row.batch_size, synthetic=True)
    return replace(row, cached=time_step(lambda steps: rig.run(steps).seconds, rule))


def _watch_device(rig: Rig, row: SizeRow) -> SizeRow:
    """The row with how busy its steps keep the device, and how often the host waits for it."""
    rig.build(row.batch_size)
    rig.run([1] * _WARMING)
    waits = rig.run([_PROFILED], count_waits=True).host_waits
    if waits is None:
        return row
    busy = None
    if waits.device_s is not None:
        # set against an unwatched step: the profiler slows the host down, not the device
        busy = min(waits.device_s / row.timing.time_per_step_s, 1.0)
    return replace(row, busy_share=busy, host_waits=waits.per_step)


def from_data(data: Mapping[str, Any]) -> SizeRow:
    """The row that was written as this data."""
    return SizeRow(
        **{**data, "timing": _timing(data["timing"]), "cached": _timing(data.get("cached"))}
    )


def _timing(data: Mapping[str, Any] | None) -> Any:
    return None if data is None else Timing(**{**data, "window_s": tuple(data["window_s"])})


def _rate(batch_size: int, timing: Timing) -> Rate:
    fast, slow = timing.interval_s
    return Rate(
        batch_size, batch_size / timing.time_per_step_s, batch_size / slow, batch_size / fast
    )


# ---- what a batch-size probe has measured already: it resumes, and asked again it costs nothing.
#
# Answers and the rows on the way to them are in the store under the workload that was measured.
# They hold as long as everything that was measured is the same; otherwise the changes are
# reported.


_ROW = "batch_size_row"
ANSWER = "batch_size"


def has_answer(store: str | Path | None, subject: str) -> bool:
    """Whether a store has an answer about a subject, out of date or not."""
    if store is None:
        return False
    with Store.open(store) as opened:
        return bool(opened.probes(subject, name=ANSWER))


class KeptRows:
    """The rows and answers of one subject in a store; without a store, of this call alone."""

    def __init__(
        self,
        store: str | Path | None,
        subject: str,
        identity: Mapping[str, str],
        question: Mapping[str, Any],
    ) -> None:
        """Read what was measured of this subject."""
        self._store, self._subject = store, subject
        self._identity, self._question = dict(identity), dict(question)
        self._rows: dict[tuple[int, int], SizeRow] = {}
        self.changed: tuple[Message, ...] = ()  # since the newest answer
        self.answer: Mapping[str, Any] | None = None  # the newest, if nothing has changed
        if store is None:
            return
        with Store.open(store) as opened:
            rows = [record.answer for record in opened.probes(subject, name=_ROW)]
            answers = [record.answer for record in opened.probes(subject, name=ANSWER)]
        for data in rows:
            if data["key"] == self._key:
                self._rows[data["row"]["batch_size"], data["turn"]] = from_data(data["row"])
        # a row that holds only that nothing could be measured has no identity
        self._compare([data for data in answers if "identity" in data])

    def _compare(self, answers: list[Mapping[str, Any]]) -> None:
        if not answers:
            return
        newest = answers[-1]
        self.changed = tuple(differences(newest["identity"], self._identity))
        same = [answer for answer in answers if answer.get("key") == self.key]
        self.answer = same[-1] if same else None

    @property
    def key(self) -> str:
        """What an answer is an answer to: what was measured, and how it was asked."""
        return self._digest([self._identity, self._question])

    @property
    def _key(self) -> str:
        """What a row is good for: how far the sizes go does not matter to it."""
        return self._digest([self._identity, self._question.get("rule")])

    def _digest(self, parts: list[Any]) -> str:
        text = json.dumps([self._subject, *parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def get(self, batch_size: int, turn: int) -> SizeRow | None:
        """The row of a size, if it was measured: the first time (0) or again (1)."""
        return self._rows.get((batch_size, turn))

    def add(self, row: SizeRow, turn: int) -> None:
        """Keep a row at once."""
        self._rows[row.batch_size, turn] = row
        if self._store is not None:
            self._write(_ROW, {"key": self._key, "turn": turn, "row": asdict(row)})

    def conclude(self, document: Mapping[str, Any]) -> None:
        """Keep an answer."""
        if self._store is not None:
            self._write(ANSWER, {**document, "subject": self._subject, "key": self.key})

    def _write(self, name: str, answer: Mapping[str, Any]) -> None:
        assert self._store is not None
        with Store.open(self._store) as opened:
            opened.add_probe(name, self._subject, answer)


# ---- size sweep


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

    def measure_size(size: int, turn: int = 0) -> SizeRow:
        known = kept.get(size, turn)
        if known is not None:
            return known
        timing = partial(measure, batch_size=size, rule=plan.rule)
        row = _in_process(rigs, largest, size, timing, turn)
        if subject.takes_synthetic:
            timing = partial(_measure_synthetic, row=row, rule=plan.rule)
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
            rows[size] = rows[size].pooled(measure_size(size, turn=1))

    sizes = list(plan.sizes) or _doublings(plan.smallest, largest.batch_size)
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
            rows[size] = measure_size(size)
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


def watch_rows(rigs: Rigs, rows: list[SizeRow], best: int, largest: Largest) -> list[SizeRow]:
    """The rows with how busy the device is at the knee and at the smallest size.

    After all timing: a profiler that was once there may slow later steps down.
    """
    return [
        _in_process(rigs, largest, row.batch_size, partial(_watch_device, row=row), turn=1)
        if row is rows[0] or row.batch_size == best
        else row
        for row in rows
    ]


def _in_process(rigs: Rigs, largest: Largest, size: int, work: Work[SizeRow], turn: int) -> SizeRow:
    return rigs.use(work, turn) if largest.surely_fits(size) else rigs.alone(work)
