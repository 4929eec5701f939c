"""A pool of worker processes, held by one thread: seats, what sits there, and when it must end.

All work is done by the pool's own thread: it starts the workers (a worker dies with the thread that
started it), listens to them, and enforces limits. Others speak to it through two queues.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from tunewright.execution.executors.executor import Assignment, Ended, as_fields
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.pool_thread import CHECK_S, Job, PoolThread
from tunewright.execution.executors.pooled import Load
from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.frames import Head, as_event
from tunewright.execution.processes.output import exception_line, last_lines
from tunewright.execution.processes.process import WorkerProcess
from tunewright.execution.processes.program import exit_message
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome, outcome_from
from tunewright.store.plain_json import clean

Isolate = Literal["auto", "always", "never"]
_MEMORY_S, _PEAK_S = 0.5, 2.0  # how often memory is looked at, with and without a limit
LONG_S = 60.0  # from here on a fresh process costs nothing that matters


@dataclass(eq=False)
class _Job(Job):
    """One attempt under way, with what is known of its memory."""

    kills: memory.OomKills = field(default_factory=memory.OomKills)
    peak_mb: float | None = None
    measure_at: float = 0.0  # when memory is next looked at


@dataclass(eq=False)
class Seat:
    """A place for one trial at a time, with the devices that belong to it."""

    devices: tuple[str, ...]
    environment: Mapping[str, str]
    worker: WorkerProcess | None = None
    loaded: Load | None = None
    job: _Job | None = None
    worn: bool = False  # the worker is not fit for another trial


@dataclass(eq=False)
class Pool(PoolThread[Seat]):
    """Worker processes at work."""

    seats: Sequence[Seat]
    limits: Limits
    isolate: Isolate
    mark: str = field(default_factory=process_tree.new_mark)

    def __post_init__(self) -> None:
        """Start the thread; workers are started when there is work."""
        self._waiting: deque[tuple[Load, Assignment]] = deque()
        self.begin("pool of workers")

    # ---- for the supervisor's thread

    def start(self, load: Load, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts, or let them wait for a seat."""
        self._order(lambda: self._waiting.extend((load, each) for each in assignments))

    # ---- the thread

    def _patience(self) -> float | None:
        return CHECK_S if any(seat.job is not None for seat in self.seats) else None

    def _turn(self) -> None:
        self._check()
        self._fill_seats()

    def _end_all(self) -> None:
        for seat in self.seats:
            self._end(seat, "stopped", Message("stopped.executor_closed"))

    # ---- seats

    def _fill_seats(self) -> None:
        for seat in self.seats:
            if seat.worn and seat.job is None and seat.worker is not None:
                self._dismiss(seat)
            while seat.job is None and self._waiting:  # one that cannot be started keeps no seat
                self._seat(seat, *self._waiting.popleft())

    def _seat(self, seat: Seat, load: Load, assignment: Assignment) -> None:
        if seat.worker is not None and seat.loaded is not load:
            self._dismiss(seat)
        hire = None if seat.worker is not None else partial(self._hire, seat, load)
        output = self._open_log(assignment, hire)
        if output is None:
            return
        now = time.monotonic()
        seat.job = _Job(assignment, output, now, now, measure_at=now + CHECK_S)
        self._send(seat, {"kind": "trial", "assignment": as_fields(assignment)})

    def _hire(self, seat: Seat, load: Load) -> None:
        self._employ(seat)
        seat.loaded, seat.worn = load, False
        self._send(seat, {"kind": "load", "devices": seat.devices, **load.head}, load.body)

    # ---- what workers do

    def _copy(self, seat: Seat) -> None:
        assert seat.worker is not None
        for data in seat.worker.read_output():
            if seat.job is not None:
                seat.job.output.write(data)

    def _listen(self, seat: Seat) -> None:
        assert seat.worker is not None
        for head, body in seat.worker.receive():
            if seat.job is None:
                continue
            seat.job.progressed = time.monotonic()
            event = as_event(head, body)
            if event is not None:
                self._events.put(event)
            elif head["kind"] == "ended":
                self._finish(seat, head)

    def _finish(self, seat: Seat, head: Head) -> None:
        """The worker reports how the trial has ended, and continues or is replaced."""
        job, load = seat.job, seat.loaded
        assert job is not None and load is not None
        self._copy(seat)
        self._conclude(seat, outcome_from(head["outcome"]))
        fresh = bool(head["left"])
        if not load.is_command:
            fresh = fresh or time.monotonic() - job.started > LONG_S
        # ended by _fill_seats, not here where its messages are being read
        seat.worn = self.isolate == "always" or (self.isolate == "auto" and fresh)

    def _on_exit(self, seat: Seat) -> None:
        """The worker process has ended by itself."""
        if seat.job is None:
            self._dismiss(seat)
            return
        kills = seat.job.kills
        status = self._dismiss(seat)
        if seat.job is None:  # its last message was that the trial had ended
            return
        if status == -signal.SIGKILL and kills.more():
            self._cut(seat, "infeasible", Message("memory.killed", {"what": "trial"}))
        else:
            self._cut(seat, "died", exit_message("process.exited", status))

    def _cut(self, seat: Seat, end: End, cause: Message) -> None:
        """Conclude an attempt that did not report its end."""
        assert seat.job is not None
        self._conclude(seat, seat.job.cut(end, cause))

    def _conclude(self, seat: Seat, outcome: Outcome) -> None:
        job, seat.job = seat.job, None
        assert job is not None
        job.output.close()
        cause, detail = outcome.reason, outcome.detail
        if not detail and outcome.status in ("failed", "died"):
            detail = last_lines(job.output.path)
        if cause is not None and cause.code == "program.exited" and outcome.status == "failed":
            error = clean(exception_line(detail))
            cause = Message(cause.code, {**cause.facts, **({"error": error} if error else {})})
        # of a command the worker knows its own memory, not the program's
        is_command = seat.loaded is not None and seat.loaded.is_command
        own_mb = None if is_command else outcome.peak_memory_mb
        peak = max((mb for mb in (own_mb, job.peak_mb) if mb is not None), default=None)
        whole = replace(outcome, reason=cause, detail=detail, peak_memory_mb=peak)
        self._events.put(Ended(*job.names, whole))

    # ---- limits

    def _check(self) -> None:
        now = time.monotonic()
        for seat in self.seats:
            job, worker = seat.job, seat.worker
            if job is None or worker is None:
                continue
            if self._has_ended(worker):
                self._on_exit(seat)
                continue
            over = job.over(self.limits, now) or self._memory(seat, job, worker, now)
            if over is not None:
                self._end(seat, *over)

    def _memory(
        self, seat: Seat, job: _Job, worker: WorkerProcess, now: float
    ) -> tuple[End, Message] | None:
        """Look at what the trial and its descendants take."""
        if now < job.measure_at:
            return None
        job.measure_at = now + (_PEAK_S if self.limits.memory_gb is None else _MEMORY_S)
        seen = process_tree.table()
        tree = process_tree.descendants(worker.pid, seen)
        if worker.pid in seen and not (seat.loaded and seat.loaded.is_command):
            tree.append(seen[worker.pid])
        taken = memory.tree_mb(tree)
        if self.limits.too_large(taken) and len(tree) > 1:
            # processes that share pages may take less than it seems
            shared = memory.proportional_mb(tree)
            taken = taken if shared is None else shared
        job.peak_mb = max(taken, job.peak_mb or 0.0) or None  # None: it had ended already
        return self.limits.out_of_memory(taken) if self.limits.too_large(taken) else None

    def _end(self, seat: Seat, end: End, cause: Message) -> None:
        """End a seat's trial, if one is there, with everything it has started."""
        if seat.worker is not None:
            self._dismiss(seat)
        if seat.job is not None:
            self._cut(seat, end, cause)

    def _jobs_of(self, trial: int) -> list[tuple[Seat, Job]]:
        under_way = ((seat, seat.job) for seat in self.seats if seat.job is not None)
        return [(seat, job) for seat, job in under_way if job.assignment.trial == trial]
