"""One batch size, measured: time per step, throughput, memory, with and without its input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tunewright.probes.bottleneck import Seen
from tunewright.probes.knee import Rate
from tunewright.probes.largest_size import closing
from tunewright.probes.rig import OpenRig, Ran, Rig
from tunewright.probes.timing import Timing, TimingRule, timed

WAITED = 0.01  # of the time: less is not worth a measurement without the input pipeline
PROFILED = 10  # steps


@dataclass(frozen=True)
class SizeRow:
    """What was measured at one batch size, in processes of its own."""

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
        return SizeRow(**{**self.__dict__, "timing": timing})


def measure(
    open_rig: OpenRig, batch_size: int, rule: TimingRule, takes_synthetic: bool = False
) -> SizeRow:
    """Measure one size in fresh processes; raises OutOfMemory where it does not fit."""
    with closing(open_rig()) as rig:
        device = rig.build(batch_size)
        last: list[Ran] = []

        def windows(cached: bool) -> Callable[[Any], Any]:
            def run(steps: Any) -> Any:
                last[:] = [rig.run(steps, [cached] * len(steps))]
                return last[0].seconds

            return run

        timing = timed(windows(False), rule)
        ran = last[0]
        waits = [sum(window) for window in ran.waits]
        saw = any(ran.waits)
        share = sum(waits) / sum(ran.seconds) if saw else None
        cached = timed(windows(True), rule) if share is not None and share > WAITED else None
        row = SizeRow(batch_size, timing, ran.peak_mb, ran.reserved_mb, share, cached)
        if device.kind == "cuda":
            row = _profiled(row, rig)
    if takes_synthetic:
        with closing(open_rig()) as rig:
            rig.build(batch_size, synthetic=True)
            cached = timed(lambda steps: rig.run(steps).seconds, rule)
        row = SizeRow(**{**row.__dict__, "cached": cached})
    return row


def _profiled(row: SizeRow, rig: Rig) -> SizeRow:
    found = rig.run([PROFILED], count_waits=True).host_waits
    if found is None:
        return row
    busy = None
    if found.device_s is not None:
        # set against an unwatched step: the profiler slows the host down, not the device
        busy = min(found.device_s / row.timing.time_per_step_s, 1.0)
    return SizeRow(**{**row.__dict__, "busy_share": busy, "host_waits": found.per_step})


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
