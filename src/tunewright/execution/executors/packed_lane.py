"""Lanes: K trials in K threads of one process, of which one runs Python at a time.

A trial's thread holds the *baton* while it runs its training function. Each hand-over swaps the
random states (Python, numpy, torch on the CPU and on the GPU) and torch's settings, so
`torch.manual_seed` in a training function means that trial. `pipeline.fit` hands its captured steps
to the *driver*, one thread that replays the graphs of all waiting trials in turn, each on the
trial's own stream. On the CPU the driver runs the steps themselves: that gains nothing, and tests
the rest.
"""

from __future__ import annotations

import contextlib
import queue
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_LAUNCHES = 4  # graphs of a trial in the driver's queue before the next has its turn
TURN = 10  # steps of a trial before the next has its turn, where the CPU stands in
MOST_TRIALS = 32  # torch has 32 streams per device


class Unpackable(BaseException):
    """This trial cannot train in a pack. Not an Exception: no training function should catch it."""


@dataclass
class Surroundings:
    """What is one per process and must be one per trial; swapped with the baton."""

    torch: Any
    generator: Any = None  # of the GPU; the default generator uses its state while it is in
    _python: Any = None
    _numpy: Any = None
    _cpu: Any = None
    _settings: tuple[Any, ...] = ()

    def install(self) -> None:
        """Make the process's state this trial's."""
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        self.torch.set_rng_state(self._cpu)
        self._set(self._settings)
        if self.generator is not None:
            current = self.torch.cuda.default_generators[0]
            current.graphsafe_set_state(self.generator.graphsafe_get_state())

    def capture(self) -> None:
        """Keep the process's state as this trial's."""
        self._python, self._numpy = random.getstate(), np.random.get_state()
        self._cpu, self._settings = self.torch.get_rng_state(), self._get()

    def _get(self) -> tuple[Any, ...]:
        torch = self.torch
        cudnn = torch.backends.cudnn
        return (
            torch.get_float32_matmul_precision(),
            cudnn.allow_tf32,
            cudnn.benchmark,
            cudnn.deterministic,
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        )

    def _set(self, settings: tuple[Any, ...]) -> None:
        if settings == self._get():
            return
        torch, (products, tf32, benchmark, same, dtype, strict, warn) = self.torch, settings
        torch.set_float32_matmul_precision(products)
        cudnn = torch.backends.cudnn
        cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic = tf32, benchmark, same
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(strict, warn_only=warn)


@dataclass(eq=False)
class Job:
    """A stretch: replays that a trial waits for."""

    lane: TrialLane
    parts: list[tuple[Any, int]]  # graphs, and how often each is still replayed
    launched: threading.Event = field(default_factory=threading.Event)
    done: Any = None  # an event on the trial's stream; None on the CPU
    error: BaseException | None = None

    def replay(self) -> None:
        """Replay once."""
        graph, left = self.parts[0]
        graph.replay()
        if left > 1:
            self.parts[0] = (graph, left - 1)
        else:
            del self.parts[0]


class Pack:
    """The baton, the streams and the driver of one process."""

    def __init__(self, torch: Any, trials: int, on_cpu: bool) -> None:
        """Room for `trials` at once, on the one GPU that this process sees, or on the CPU."""
        self.torch, self.on_cpu, self.trials = torch, on_cpu, trials
        self.baton = threading.Lock()
        self.streams = [None if on_cpu else torch.cuda.Stream() for _ in range(trials)]
        self.steps = 0  # replayed by now, of all trials
        self.last: Any = None  # an event: what the last holder of the baton launched by itself
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        fresh = Surroundings(torch)
        fresh.capture()
        self._fresh = fresh
        threading.Thread(target=self._drive, name="tunewright driver", daemon=True).start()

    def lane(self, seat: int) -> TrialLane:
        """A lane on the stream of this seat, with the settings that a new process has."""
        generator = None if self.on_cpu else self.torch.Generator(device="cuda:0")
        fresh = self._fresh
        surroundings = Surroundings(
            self.torch, generator, fresh._python, fresh._numpy, fresh._cpu, fresh._settings
        )
        return TrialLane(self, self.streams[seat], surroundings)

    def submit(self, job: Job) -> None:
        """Have the driver replay it."""
        self._jobs.put(job)

    # ---- the driver's thread

    def _drive(self) -> None:
        turn = self._steps if self.on_cpu else self._replay
        active: list[Job] = []
        while True:
            with contextlib.suppress(queue.Empty):
                if not active:
                    active.append(self._jobs.get())
                while True:
                    active.append(self._jobs.get_nowait())
            for job in active:
                try:
                    turn(job)
                except BaseException as error:
                    job.error, job.parts = error, []
                if not job.parts:
                    job.launched.set()
            active = [job for job in active if job.parts]

    def _replay(self, job: Job) -> None:
        self.torch.cuda.set_stream(job.lane.stream)
        for _ in range(_LAUNCHES):
            job.replay()
            if not job.parts:
                job.done.record()
                return

    def _steps(self, job: Job) -> None:
        """The stand-in's turn: steps draw random numbers, so it needs the trial's surroundings."""
        job.lane.take()
        try:
            for _ in range(TURN):
                if job.parts:
                    job.replay()
        finally:
            job.lane.give()


class TrialLane:
    """One trial's place in the pack; `pipeline.stretch.Lane` is what `fit` knows of it."""

    def __init__(self, pack: Pack, stream: Any, surroundings: Surroundings) -> None:
        """Made for every attempt; the stream is reused."""
        self._pack, self.stream, self._surroundings = pack, stream, surroundings
        self.on_cpu = pack.on_cpu
        self.entered = False  # fit trains it
        self.admitted = False  # its steps are captured, or it stays for another reason
        self.logged = False  # points were sent: it can no longer start again elsewhere
        self.refused: str | None = None  # why it left the pack

    def take(self) -> None:
        """Wait for the baton, then make the process's state this trial's."""
        self._pack.baton.acquire()
        self._surroundings.install()
        if self.stream is not None and self._pack.last is not None:
            # Tensors that another trial made and shares (a cached data set) are complete by then.
            self.stream.wait_event(self._pack.last)

    def give(self) -> None:
        """Keep the trial's state and pass the baton on."""
        self._surroundings.capture()
        if self.stream is not None:
            event = self._pack.torch.cuda.Event()
            event.record(self.stream)
            self._pack.last = event
        self._pack.baton.release()

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """A trial's whole attempt runs inside, on its stream."""
        on_stream: Any = contextlib.nullcontext()
        if self.stream is not None:
            on_stream = self._pack.torch.cuda.stream(self.stream)
        self.take()
        try:
            with on_stream:
                yield
        finally:
            self.give()

    # ---- what fit uses

    def enter(self) -> None:
        """`fit` trains it, and nothing is known that prevents a capture."""
        self.entered = True

    def admit(self) -> None:
        """The trial's steps are captured: it stays in the pack."""
        self.admitted = True

    def refuse(self, reason: str) -> None:
        """Leave the pack; a trial that has logged stays, and its steps run one after the other."""
        if self.logged:
            self.admitted = self.entered = True
            return
        self.refused = reason
        raise Unpackable(reason)

    def replay(self, *parts: tuple[Any, int], then: Callable[[], None] | None = None) -> None:
        """Have the driver replay it; the other trials run until the device has done it, and `then`.

        What `then` reads on the device it reads on the trial's stream.
        """
        job = Job(self, list(parts))
        steps = sum(count for _, count in parts)
        if self.stream is not None:
            job.done = self._pack.torch.cuda.Event(blocking=True)
        with self.release():
            self._pack.submit(job)
            job.launched.wait()
            if job.error is None and job.done is not None:
                job.done.synchronize()
            if job.error is None and then is not None:
                then()
        if job.error is not None:
            raise job.error
        self._pack.steps += steps

    @contextlib.contextmanager
    def release(self) -> Iterator[None]:
        """Inside, the other trials run."""
        self.give()
        try:
            yield
        finally:
            self.take()
