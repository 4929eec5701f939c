"""How long does a step take, and does it wait for its data?

Cheap timers on the host, none of which waits for the device: the time spent in asking for the next
batch, and the wall time. An input pipeline that cannot keep up shows as a waiting share (playbook,
"Optimizing the input pipeline"); evaluation and checkpoints are not counted.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from tunewright.errors import PipelineError

Verdict = Literal["fine", "watch", "input_bound", "cannot_judge"]

_ENOUGH = 200  # steps for a verdict
_SETTLING = 10  # first steps, not counted: compilation, caches, allocation
_EVENTS_EVERY = 20  # steps between two timings on the device


@dataclass(frozen=True)
class Throughput:
    """What was measured over the steps of one training."""

    steps: int  # measured; the first ones are left out
    seconds: float  # wall time of these steps, without evaluations and checkpoints
    waiting_s: float  # of which the host waited for the next batch
    batch_size: int  # examples per step, of all processes together
    device_busy_share: float | None = None  # between a step's first and last kernel; CUDA only

    @property
    def time_per_step_s(self) -> float:
        """Seconds per update."""
        return self.seconds / self.steps if self.steps else float("nan")

    @property
    def examples_per_s(self) -> float:
        """Examples trained on per second."""
        return self.steps * self.batch_size / self.seconds if self.seconds else float("nan")

    @property
    def waiting_share(self) -> float:
        """The share of the time in which nothing could be launched for want of data."""
        return self.waiting_s / self.seconds if self.seconds else 0.0

    @property
    def verdict(self) -> Verdict:
        """Whether the input pipeline holds training up; from 200 steps on.

        >>> Throughput(steps=1000, seconds=10.0, waiting_s=2.0, batch_size=64).verdict
        'input_bound'
        """
        if self.steps < _ENOUGH:
            return "cannot_judge"
        if self.waiting_share > 0.10:
            return "input_bound"
        return "watch" if self.waiting_share > 0.03 else "fine"

    def __str__(self) -> str:
        busy = self.device_busy_share
        return (
            f"{self.time_per_step_s * 1e3:.4g} ms per step, {self.examples_per_s:.4g} examples/s, "
            f"{self.waiting_share:.1%} waiting for data"
            + (f", device busy {busy:.0%}" if busy is not None else "")
        )


class Clock:
    """Times the steps of one training; reading it makes a Throughput."""

    def __init__(self, batch_size: int, device: torch.device, settling: int = _SETTLING) -> None:
        """Start counting after `settling` steps."""
        self._batch_size, self._device, self._settling = batch_size, device, settling
        self._done = 0
        self._started = 0.0
        self._seconds = self._waiting = 0.0
        self._events: list[tuple[torch.cuda.Event, torch.cuda.Event, int]] = []  # and steps between
        self._busy: list[float] = []
        self._open: torch.cuda.Event | None = None

    def next(self, items: Iterator[Any]) -> Any:
        """The next item, timed; call it once at the beginning of every step."""
        before = time.perf_counter()
        if self._done == self._settling:
            self._started, self._seconds, self._waiting = before, 0.0, 0.0
        item = next(items)
        self._waiting += time.perf_counter() - before
        if self._device.type == "cuda" and self._done % _EVENTS_EVERY == _EVENTS_EVERY - 1:
            self._open = _event()
        return item

    def count_step(self) -> None:
        """The step is launched."""
        self._done += 1
        if self._open is not None:
            self._events.append((self._open, _event(), 1))
            self._open = None

    @contextmanager
    def stretch(self, count: int) -> Iterator[None]:
        """Inside, `count` steps are launched at once; the first stretch starts the counting."""
        if self._done <= self._settling:
            self._started, self._seconds, self._waiting = time.perf_counter(), 0.0, 0.0
            self._settling = self._done
            self._events.clear()
            self._busy.clear()
        start = _event() if self._device.type == "cuda" else None
        yield
        self._done += count
        if start is not None:
            self._events.append((start, _event(), count))

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Evaluation and checkpoints run inside: they are no part of a step."""
        paused = time.perf_counter()
        try:
            yield
        finally:
            self._started += time.perf_counter() - paused

    def read_events(self) -> None:
        """Call it after a reading: the events that the device has reached are read then."""
        done = [event for event in self._events if event[1].query()]  # type: ignore[no-untyped-call]
        self._busy += [a.elapsed_time(b) / 1e3 / steps for a, b, steps in done]
        self._events = self._events[len(done) :]

    def read(self) -> Throughput:
        """What was measured so far."""
        steps = max(self._done - self._settling, 0)
        if not steps:
            return Throughput(0, 0.0, 0.0, self._batch_size)
        seconds = time.perf_counter() - self._started
        busy = None
        if self._busy:
            busy = min(statistics.fmean(self._busy) / (seconds / steps), 1.0)
        return Throughput(steps, seconds, self._waiting, self._batch_size, busy)


def slowdown(
    real: Callable[[], None],
    cached: Callable[[], None],
    *,
    steps: int = 50,
    windows: int = 5,
    device: torch.device | str = "cpu",
) -> float:
    """How much longer `real` steps take than `cached` ones on one batch: above 1.1 is input-bound.

    Windows of both alternate, so that a change of the machine's mood touches both; the medians are
    compared.
    """
    if steps < 1 or windows < 1:
        raise PipelineError("throughput.bad_counts", steps=steps, windows=windows)
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(windows):
        for is_real, step in ((True, real), (False, cached)):
            times[is_real].append(_window(step, steps, torch.device(device)))
    return statistics.median(times[True]) / statistics.median(times[False])


def _event() -> torch.cuda.Event:
    event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    event.record()
    return event


def _window(step: Callable[[], None], steps: int, device: torch.device) -> float:
    _wait(device)
    started = time.perf_counter()
    for _ in range(steps):
        step()
    _wait(device)
    return time.perf_counter() - started


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


# ---- a profiler's trace of a few steps, as a file that Perfetto or chrome://tracing opens
#
# The timers show whether training waits; a trace shows for what (playbook: "use an appropriate
# profiler to diagnose input-bound pipelines").


_BEFORE_TRACE = 10  # steps before the trace: compilation, caches, allocation
TRACED = 10  # steps


class Trace:
    """Records steps of one training and writes them; call `stepped` after every step."""

    def __init__(self, path: Path | str, steps: int, device: torch.device) -> None:
        """`steps` are all that this training does: a short one is traced from its start."""
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise PipelineError("fit.trace_folder", path=str(self.path))
        self._first = max(0, min(_BEFORE_TRACE, steps - TRACED))
        self._last = min(self._first + TRACED, steps)
        self._done = 0
        self._profiler: Any = None
        self._device = device
        if self._first == 0:
            self._profiler = start_profiler(device)

    def count_step(self) -> None:
        """Another step is launched."""
        self._done += 1
        if self._done == self._last:
            self.close()
        elif self._done == self._first:
            self._profiler = start_profiler(self._device)

    def close(self) -> None:
        """Write what was recorded; nothing happens where nothing is being recorded."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        _wait(self._device)
        profiler.stop()
        profiler.export_chrome_trace(str(self.path))


def start_profiler(device: torch.device) -> Any:
    """A running profiler of the host, and of the device if it is a CUDA device."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    profiler = torch.profiler.profile(activities=activities)
    profiler.start()
    return profiler
