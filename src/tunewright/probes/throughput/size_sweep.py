"""How fast is each size? Timed upward until two lie beyond the knee, each in its process."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tunewright.errors import WorkloadError
from tunewright.messages import Message
from tunewright.probes.throughput.knee import Rate, Seen, knee, passed, pays
from tunewright.probes.throughput.largest_size import Largest
from tunewright.probes.throughput.observed import differences
from tunewright.probes.throughput.rig import CannotStep, OutOfMemory, Ran, Rig, Rigs, Work
from tunewright.probes.throughput.subject import Subject
from tunewright.probes.throughput.timing import RunWindows, Timing, TimingRule, timed
from tunewright.store.store import Store

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

    @property
    def seen(self) -> Seen:
        """What a verdict on the bottleneck needs."""
        return Seen(self.rate, self.cached_rate, self.busy_share, self.host_waits)

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

    timing = timed(windows(False), rule)
    ran = last[0]
    waits = [sum(window) for window in ran.waits]
    saw = any(ran.waits)
    share = sum(waits) / sum(ran.seconds) if saw else None
    cached = timed(windows(True), rule) if share is not None and share > _WAITED else None
    return SizeRow(batch_size, timing, ran.peak_mb, ran.reserved_mb, share, cached)


def _measure_synthetic(rig: Rig, row: SizeRow, rule: TimingRule) -> SizeRow:
    """The row with the time of steps that a factory makes without its input pipeline."""
    rig.build(row.batch_size, synthetic=True)
    return replace(row, cached=timed(lambda steps: rig.run(steps).seconds, rule))


def _watch_device(rig: Rig, row: SizeRow) -> SizeRow:
    """The row with how busy its steps keep the device, and how often the host waits for it."""
    rig.build(row.batch_size)
    rig.run([1] * _WARMING)
    found = rig.run([_PROFILED], count_waits=True).host_waits
    if found is None:
        return row
    busy = None
    if found.device_s is not None:
        # set against an unwatched step: the profiler slows the host down, not the device
        busy = min(found.device_s / row.timing.time_per_step_s, 1.0)
    return replace(row, busy_share=busy, host_waits=found.per_step)


def _as_data(row: SizeRow) -> dict[str, Any]:
    """The row as plain data."""
    return asdict(row)


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
        asked: Mapping[str, Any],
    ) -> None:
        """Read what was measured of this subject."""
        self._store, self._subject = store, subject
        self._identity, self._asked = dict(identity), dict(asked)
        self._rows: dict[tuple[int, int], SizeRow] = {}
        self.changed: tuple[Message, ...] = ()  # since the newest answer
        self.answer: Mapping[str, Any] | None = None  # the newest, if nothing has changed
        if store is None:
            return
        with Store.open(store) as opened:
            rows = [one.answer for one in opened.probes(subject, name=_ROW)]
            answers = [one.answer for one in opened.probes(subject, name=ANSWER)]
        for told in rows:
            if told["key"] == self._key:
                self._rows[told["row"]["batch_size"], told["turn"]] = from_data(told["row"])
        # a row that holds only that nothing could be measured has no identity
        self._compare([told for told in answers if "identity" in told])

    def _compare(self, answers: list[Mapping[str, Any]]) -> None:
        if not answers:
            return
        newest = answers[-1]
        self.changed = tuple(differences(newest["identity"], self._identity))
        same = [told for told in answers if told.get("key") == self.key]
        self.answer = same[-1] if same else None

    @property
    def key(self) -> str:
        """What an answer is an answer to: what was measured, and how it was asked."""
        return self._digest([self._identity, self._asked])

    @property
    def _key(self) -> str:
        """What a row is good for: how far the sizes go does not matter to it."""
        return self._digest([self._identity, self._asked.get("rule")])

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
            self._write(_ROW, {"key": self._key, "turn": turn, "row": _as_data(row)})

    def conclude(self, document: Mapping[str, Any]) -> None:
        """Keep an answer."""
        if self._store is not None:
            self._write(ANSWER, {**document, "subject": self._subject, "key": self.key})

    def _write(self, name: str, told: Mapping[str, Any]) -> None:
        assert self._store is not None
        with Store.open(self._store) as opened:
            opened.add_probe(name, self._subject, told)


# ---- size sweep


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
        _in_process(rigs, largest, row.batch_size, partial(_watch_device, row=row), turn=1)
        if row is rows[0] or row.batch_size == best
        else row
        for row in rows
    ]


def _in_process(
    rigs: Rigs, largest: Largest, size: int, work: Work[SizeRow], turn: int = 0
) -> SizeRow:
    return rigs.use(work, turn) if largest.surely_fits(size) else rigs.alone(work)
