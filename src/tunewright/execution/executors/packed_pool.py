"""The processes of `Packed`, held by one thread: one process per GPU, many trials in each.

A process that ends takes its trials with it: they return to pending and run again in smaller packs,
until the one that ends its process is alone and its end is its own. Trials that cannot train in a
pack run through `Local`, each in its own process.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tunewright.execution.executors.executor import (
    Assignment,
    Began,
    Ended,
    Event,
    Noted,
    as_fields,
)
from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.pool_thread import CHECK_S, Job, PoolThread
from tunewright.execution.executors.pooled import Load
from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.frames import Head, as_event
from tunewright.execution.processes.output import last_lines
from tunewright.execution.processes.process import WorkerProcess
from tunewright.execution.processes.program import exit_message
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome, outcome_from

_MODULE = "tunewright.execution.executors.packed_worker"
READINGS = 3  # of the pace, before a pack changes its size; each is of a second
GAIN = 1.1  # twice as many trials must train so many times as many steps per second
_ALONE_S = 0.02  # how often the trials in their own process are looked at


@dataclass(eq=False)
class _Job(Job):
    """One attempt under way in a pack."""

    workload: Workload = field(kw_only=True)


@dataclass(eq=False)
class PackSize:
    """How many trials a pack trains at once.

    Where it `adapts`, twice as many, as long as that trains a tenth more steps per second.

    >>> size = PackSize(8, most=32, adapts=True)
    >>> for rate in (400.0, 390.0, 410.0, 600.0, 700.0, 710.0, 700.0, 720.0, 715.0):
    ...     size.note_rate(rate)
    >>> size.now, size.adapts
    (16, False)
    """

    now: int
    most: int
    adapts: bool = False
    _rates: list[float] = field(default_factory=list)  # of full packs of this size
    _smaller: tuple[int, float] | None = None  # the size before, and its steps per second

    def note_rate(self, rate: float) -> None:
        """A full pack trained at this rate, steps per second of all its trials, for a while."""
        if not self.adapts or rate <= 0:
            return
        self._rates.append(rate)
        if len(self._rates) < READINGS:
            return
        rate = sorted(self._rates)[READINGS // 2]
        self._rates.clear()
        if self._smaller is not None and rate < GAIN * self._smaller[1]:
            self.now, self.adapts = self._smaller[0], False
        elif self.now >= self.most:
            self.adapts = False
        else:
            self._smaller = self.now, rate
            self.now = min(2 * self.now, self.most)

    def fits(self, trials: int) -> None:
        """There is memory for no more than so many."""
        self.now, self.adapts = max(1, trials), False


@dataclass(eq=False)
class Bay:
    """One GPU, its process and the trials in it."""

    device: str
    environment: Mapping[str, str]
    size: PackSize
    worker: WorkerProcess | None = None
    loads: list[Load] = field(default_factory=list)  # those that the process knows
    jobs: dict[int, _Job] = field(default_factory=dict)  # by trial
    kills: memory.OomKills = field(default_factory=memory.OomKills)
    full_since: float | None = None  # since when it has as many trials as it may


@dataclass(eq=False)
class PackPool(PoolThread[Bay]):
    """Packs at work."""

    bays: Sequence[Bay]
    limits: Limits
    alone: Local  # for trials that cannot train in a pack
    mark: str = field(default_factory=process_tree.new_mark)

    def __post_init__(self) -> None:
        """Start the thread; processes are started when there is work."""
        self._waiting: deque[tuple[Workload, Load, Assignment]] = deque()
        self._most: dict[int, int] = {}  # trials at once in a pack with this one, after a fault
        self._apart: dict[int, list[Event]] = {}  # trials in their own process: notes to send
        self.begin("pool of packs")

    # ---- for the supervisor's thread

    def start(self, workload: Workload, load: Load, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts, or let them wait for a place."""
        self._order(lambda: self._waiting.extend((workload, load, each) for each in assignments))

    @property
    def slots(self) -> int:
        """How many trials can train at once, as measured so far."""
        return sum(bay.size.now for bay in self.bays)

    # ---- the thread

    def _patience(self) -> float | None:
        if self._apart:
            return _ALONE_S
        return CHECK_S if any(bay.jobs for bay in self.bays) else None

    def _turn(self) -> None:
        self._check()
        self._fill()
        if self._apart:
            self._pass_on(self.alone.events(0.0))

    def _end_all(self) -> None:
        for bay in self.bays:
            if bay.worker is not None:
                self._dismiss(bay)
            for job in list(bay.jobs.values()):
                self._cut(bay, job, "stopped", Message("stopped.executor_closed"))
        self.alone.close()

    # ---- places

    def _fill(self) -> None:
        later: deque[tuple[Workload, Load, Assignment]] = deque()
        while self._waiting:
            workload, load, assignment = self._waiting.popleft()
            most = self._most.get(assignment.trial)
            if load.is_command:
                self._move(workload, assignment, "it is a command")
            elif most == 1:
                self._move(workload, assignment, "its pack lost its process")
            elif (bay := self._room(assignment.trial)) is not None:
                self._seat(bay, workload, load, assignment)
            else:
                later.append((workload, load, assignment))
        self._waiting = later
        for bay in self.bays:
            if len(bay.jobs) < bay.size.now:
                bay.full_since = None
            elif bay.full_since is None:
                bay.full_since = time.monotonic()

    def _room(self, trial: int) -> Bay | None:
        """The emptiest bay that takes this trial."""
        free = [bay for bay in self.bays if len(bay.jobs) < self._most_in(bay, trial)]
        return min(free, key=lambda bay: len(bay.jobs), default=None)

    def _most_in(self, bay: Bay, trial: int) -> int:
        return min(self._most.get(each, bay.size.now) for each in (*bay.jobs, trial))

    def _seat(self, bay: Bay, workload: Workload, load: Load, assignment: Assignment) -> None:
        hire = None if bay.worker is not None else partial(self._hire, bay)
        output = self._open_log(assignment, hire)
        if output is None:
            return
        if load not in bay.loads:
            bay.loads.append(load)
            about = {"load": bay.loads.index(load), "devices": [bay.device]}
            self._send(bay, {**load.head, "kind": "load", **about}, load.body)
        now = time.monotonic()
        bay.jobs[assignment.trial] = _Job(assignment, output, now, now, workload=workload)
        order = {"kind": "trial", "load": bay.loads.index(load)}
        self._send(bay, {**order, "assignment": as_fields(assignment)})

    def _hire(self, bay: Bay) -> None:
        self._employ(bay, _MODULE, str(bay.size.most), bay.device)
        bay.loads, bay.kills = [], memory.OomKills()

    # ---- what the processes report

    def _copy(self, bay: Bay) -> None:
        """What no trial's thread printed (a library, a crash) goes to every trial's log."""
        assert bay.worker is not None
        for data in bay.worker.read_output():
            for job in bay.jobs.values():
                job.output.write(data)

    def _listen(self, bay: Bay) -> None:
        assert bay.worker is not None
        for head, body in bay.worker.receive():
            if head["kind"] == "pace":
                self._note_pace(bay, head)
                continue
            job = bay.jobs.get(head["trial"])
            if job is None:
                continue
            job.progressed = time.monotonic()
            event = as_event(head, body)
            if event is not None:
                self._events.put(event)
                continue
            match head["kind"]:
                case "printed":
                    job.output.write(body)
                case "refused":
                    self._forget(bay, job)
                    self._move(job.workload, job.assignment, head["reason"], job.stop_by)
                case "crowded":
                    bay.size.fits(len(bay.jobs) - 1)
                    self._most[job.assignment.trial] = bay.size.now
                    cause = Message("stopped.pack_crowded", {"beside": head["beside"]})
                    self._cut(bay, job, "stopped", cause)
                case "ended":
                    self._most.pop(job.assignment.trial, None)
                    self._conclude(bay, job, outcome_from(head["outcome"]))

    def _note_pace(self, bay: Bay, head: Head) -> None:
        """So many steps were replayed in so many seconds: counts where the pack was full."""
        if bay.full_since is not None and time.monotonic() - bay.full_since >= head["seconds"]:
            bay.size.note_rate(head["steps"] / head["seconds"])

    def _on_exit(self, bay: Bay) -> None:
        """The process has ended by itself."""
        kills = bay.kills
        status = self._dismiss(bay)
        exit_of = exit_message("process.exited", status)
        if len(bay.jobs) == 1:
            (job,) = bay.jobs.values()
            if status == -signal.SIGKILL and kills.more():
                killed = Message("memory.killed", {"what": "trial"})
                self._cut(bay, job, "infeasible", killed)
            else:
                self._cut(bay, job, "died", exit_of)
            return
        self._scatter(bay, exit_of.text)

    def _scatter(self, bay: Bay, how: str, blame: bool = True) -> None:
        """A process is gone: its trials run again, in packs of half the size where one is to blame.

        Only the end of a trial that trains alone counts as that trial's.
        """
        count = len(bay.jobs)
        for job in list(bay.jobs.values()):
            if blame:
                self._most[job.assignment.trial] = max(1, count // 2)
            cause = Message("stopped.pack_lost", {"trials": count, "how": how})
            self._cut(bay, job, "stopped", cause)

    def _cut(self, bay: Bay, job: _Job, end: End, cause: Message) -> None:
        """Conclude an attempt that did not report its end."""
        self._conclude(bay, job, job.cut(end, cause))

    def _conclude(self, bay: Bay, job: _Job, outcome: Outcome) -> None:
        self._forget(bay, job)
        if not outcome.detail and outcome.status in ("failed", "died"):
            outcome = replace(outcome, detail=last_lines(job.output.path))
        self._events.put(Ended(*job.names, outcome))

    def _forget(self, bay: Bay, job: _Job) -> None:
        del bay.jobs[job.assignment.trial]
        job.output.close()

    # ---- trials in their own process

    def _move(
        self, workload: Workload, assignment: Assignment, reason: str, stop_by: float | None = None
    ) -> None:
        note = Message("packed.own_process", {"number": assignment.number, "reason": reason})
        self._apart[assignment.trial] = [Noted(assignment.trial, assignment.attempt, note)]
        self.alone.start(workload, [assignment])
        if stop_by is not None:
            self.alone.stop(assignment.trial, max(0.0, stop_by - time.monotonic()))

    def _pass_on(self, events: Sequence[Event]) -> None:
        for event in events:
            self._events.put(event)
            if isinstance(event, Began):
                for note in self._apart.get(event.trial, ()):
                    self._events.put(note)
                self._apart[event.trial] = []
            elif isinstance(event, Ended):
                self._apart.pop(event.trial, None)
                self._most.pop(event.trial, None)

    # ---- limits and stop requests

    def _check(self) -> None:
        now = time.monotonic()
        for bay in self.bays:
            if bay.worker is None:
                continue
            if self._has_ended(bay.worker):
                self._on_exit(bay)
                continue
            for job in list(bay.jobs.values()):
                if (over := job.over(self.limits, now)) is not None:
                    self._end(bay, job, *over)
                    break

    def _end(self, bay: Bay, job: _Job, end: End, cause: Message) -> None:
        """A thread cannot be ended: its process is, and the other trials run again."""
        self._dismiss(bay)
        if job.assignment.trial not in bay.jobs:  # its last message was that it had ended
            pass
        elif cause.code == "limit.no_progress" and len(bay.jobs) > 1:
            self._scatter(bay, cause.text)  # one that holds the others up looks like them
            return
        else:
            self._cut(bay, job, end, cause)
        self._scatter(bay, cause.text, blame=False)

    def _ask_stop(self, trial: int, grace_s: float) -> None:
        super()._ask_stop(trial, grace_s)
        if trial in self._apart:
            self.alone.stop(trial, grace_s)

    def _jobs_of(self, trial: int) -> list[tuple[Bay, Job]]:
        return [(bay, bay.jobs[trial]) for bay in self.bays if trial in bay.jobs]
