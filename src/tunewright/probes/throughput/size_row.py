"""One batch size, measured: time per step, throughput, memory, with and without its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tunewright.probes.throughput.bottleneck import Seen
from tunewright.probes.throughput.knee import Rate
from tunewright.probes.throughput.rig import Ran, Rig
from tunewright.probes.throughput.timing import RunWindows, Timing, TimingRule, timed

WAITED = 0.01  # of the time: less is not worth a measurement without the input pipeline
WARMING, PROFILED = 3, 3  # steps


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
    cached = timed(windows(True), rule) if share is not None and share > WAITED else None
    return SizeRow(batch_size, timing, ran.peak_mb, ran.reserved_mb, share, cached)


def measure_synthetic(rig: Rig, row: SizeRow, rule: TimingRule) -> SizeRow:
    """The row with the time of steps that a factory makes without its input pipeline."""
    rig.build(row.batch_size, synthetic=True)
    return replace(row, cached=timed(lambda steps: rig.run(steps).seconds, rule))


def watch_device(rig: Rig, row: SizeRow) -> SizeRow:
    """The row with how busy its steps keep the device, and how often the host waits for it."""
    rig.build(row.batch_size)
    rig.run([1] * WARMING)
    found = rig.run([PROFILED], count_waits=True).host_waits
    if found is None:
        return row
    busy = None
    if found.device_s is not None:
        # set against an unwatched step: the profiler slows the host down, not the device
        busy = min(found.device_s / row.timing.time_per_step_s, 1.0)
    return replace(row, busy_share=busy, host_waits=found.per_step)


def as_data(row: SizeRow) -> dict[str, Any]:
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
