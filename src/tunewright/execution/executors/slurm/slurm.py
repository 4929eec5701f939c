"""Training on a Slurm cluster: one array job per batch of trials, which report through files."""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tunewright.execution.executors.executor import Assignment, Began, Ended, Event
from tunewright.execution.executors.limits import Limits, refuse
from tunewright.execution.executors.pooled import Loads
from tunewright.execution.executors.slurm.job import Batch, Order, job_name, script
from tunewright.execution.executors.slurm.mailbox import Inbox
from tunewright.execution.executors.slurm.scheduler import (
    ACTIVE,
    UNKNOWN,
    Scheduler,
    SchedulerDown,
    Slurmctl,
    Task,
)
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.outcome import End, Outcome

FOLDER = ".slurm"  # of the trial folders: one folder per array job
_READ_S = 0.1  # how often files are read while somebody waits
_BEAT_S = 10.0  # how often tasks see that their supervisor lives
_SETTLE_S = 5.0  # what a node wrote last may arrive later than the end of its task
_LATE_S = 30.0  # so long after the grace period a task has failed to end its trial
_CLOSE_S = 40.0  # for all tasks to end
FORGIVEN = 3  # times that Slurm may forget a trial's task before it counts as a death
log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Running:
    """One task of an array job, and what is known of it."""

    assignment: Assignment
    batch: Batch
    index: int
    inbox: Inbox
    id: Task | None = None  # None: not submitted yet
    began: bool = False
    stop_by: float | None = None
    silent_since: float | None = None  # the task is over and its end was not reported

    @property
    def names(self) -> tuple[int, int]:
        return self.assignment.trial, self.assignment.attempt


@dataclass(eq=False)
class _Unsent:
    batch: Batch
    tasks: list[_Running]


@dataclass(kw_only=True)
class Slurm:
    """Several trials at once as tasks of array jobs; nodes and supervisor share the trial folders.

    Before the time limit a task is warned: its trial saves, and its next attempt is a new task that
    resumes. Slurm never requeues a task by itself. `lines` go into the script: `#SBATCH` options,
    or commands such as `module load cuda`.
    """

    partition: str | None = None  # None: the cluster's default
    time_limit: str | None = None  # of one task, as sbatch takes it: "4:00:00"
    gpus: int = 0  # of one trial
    cpus: int = 1  # of one trial
    account: str | None = None  # that pays; None: the user's default
    lines: Sequence[str] = ()  # more #SBATCH options, or commands that run before the trial
    workers: int = 8  # tasks in the queue at once
    notice_s: float = 120.0  # between the warning and the time limit
    trial_timeout_s: float | None = None  # of one attempt
    no_progress_timeout_s: float | None = None  # without a step reported
    memory_gb: float | None = None  # of a trial with everything it starts
    poll_s: float = 5.0  # how often squeue is asked
    orphan_s: float = 300.0  # tasks of a supervisor that is silent for so long stop
    scheduler: Scheduler = field(default_factory=Slurmctl)  # Slurm's commands; a test has another

    _running: list[_Running] = field(default_factory=list, init=False, repr=False, compare=False)
    _unsent: list[_Unsent] = field(default_factory=list, init=False, repr=False, compare=False)
    _batches: list[Batch] = field(default_factory=list, init=False, repr=False, compare=False)
    _loads: Loads = field(default_factory=Loads, init=False, repr=False, compare=False)
    _events: list[Event] = field(default_factory=list, init=False, repr=False, compare=False)
    _checked: bool = field(default=False, init=False, repr=False, compare=False)
    _polled: float = field(default=0.0, init=False, repr=False, compare=False)
    _forgotten: Counter[int] = field(default_factory=Counter, init=False, repr=False, compare=False)
    _beat: tuple[int, float] = field(default=(0, 0.0), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse settings that make no sense, every problem at once."""
        problems: list[Message] = []
        for name, least in (("workers", 1), ("gpus", 0), ("cpus", 1)):
            count = getattr(self, name)
            if not isinstance(count, int) or isinstance(count, bool) or count < least:
                facts = {"name": name, "count": count, "least": least}
                problems.append(Message("slurm.bad_count", facts))
        for name in ("partition", "time_limit", "account"):
            text = getattr(self, name)
            if text is not None and (not text or any(c.isspace() for c in text)):
                problems.append(Message("slurm.bad_word", {"name": name, "text": text}))
        for line in self.lines:
            if "\n" in line or not line.strip():
                problems.append(Message("slurm.bad_line", {"line": line}))
        refuse(problems, lambda: self._limits)

    @property
    def slots(self) -> int:
        """How many tasks may be queued; refuses options that Slurm does not take, once."""
        if not self._checked:
            with tempfile.TemporaryDirectory(prefix="tunewright-slurm-") as folder:
                trial = Path(folder) / "job.sh"
                trial.write_text(script(self._header("check", Path(folder)), Path(folder)))
                with contextlib.suppress(SchedulerDown):  # then the first batch waits for it
                    self.scheduler.check(trial)
            self._checked = True
        return self.workers

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Submit these attempts as one array job, once the controller takes it."""
        if not assignments:
            return
        self.slots  # noqa: B018
        load = self._loads.of(workload)
        batch = Batch(assignments[0].folder.parent / FOLDER / secrets.token_hex(8))
        header = self._header(assignments[0].round, batch.folder)
        batch.write(header, load, assignments, self._order)
        tasks = [
            _Running(each, batch, index, Inbox(batch.mailbox(index)))
            for index, each in enumerate(assignments)
        ]
        self._batches.append(batch)
        self._running += tasks
        self._unsent.append(_Unsent(batch, tasks))
        self._submit()

    def events(self, timeout_s: float) -> list[Event]:
        """What has happened since the last call; waits up to `timeout_s` for the first of it."""
        until = time.monotonic() + timeout_s
        while True:
            self._look()
            now = time.monotonic()
            if self._events or now >= until:
                events, self._events = self._events, []
                return events
            time.sleep(min(_READ_S, until - now))

    def stop(self, trial: int, grace_s: float) -> None:
        """Ask a trial to save, and end its task after the grace period."""
        for task in [task for task in self._running if task.assignment.trial == trial]:
            task.batch.ask_stop(task.index, grace_s)
            until = time.monotonic() + grace_s
            task.stop_by = until if task.stop_by is None else min(task.stop_by, until)
            if not task.began and task.id is not None:
                with contextlib.suppress(SchedulerDown):
                    self.scheduler.cancel([task.id], pending_only=True)
        self._polled = 0.0

    def close(self) -> None:
        """End every task and wait until none is left; the next `start` begins anew."""
        for task in self._running:
            task.batch.ask_stop(task.index, 0.0)
        active = [task.id for task in self._running if task.id is not None]
        deadline = time.monotonic() + _CLOSE_S
        while active and time.monotonic() < deadline:
            with contextlib.suppress(SchedulerDown):
                self.scheduler.cancel(active)
                known = self.scheduler.states(sorted({job for job, _ in active}))
                active = [place for place in active if known.get(place, UNKNOWN) in ACTIVE]
            time.sleep(_READ_S)
        if active:
            log.warning("%d tasks may still run: scancel them", len(active))
        else:
            for batch in self._batches:
                shutil.rmtree(batch.folder, ignore_errors=True)
        for kept in (self._running, self._unsent, self._batches, self._loads, self._events):
            kept.clear()

    # ---- jobs

    @property
    def _limits(self) -> Limits:
        return Limits(self.trial_timeout_s, self.no_progress_timeout_s, self.memory_gb)

    @property
    def _order(self) -> Order:
        return Order(self._limits, self.notice_s, self.orphan_s, self.gpus)

    def _header(self, round: str, folder: Path) -> list[str]:
        options = {
            "job-name": job_name(round),
            "partition": self.partition,
            "time": self.time_limit,
            "account": self.account,
            "cpus-per-task": self.cpus,
            "gpus": self.gpus or None,
            "signal": f"B:USR1@{int(self.notice_s)}",
            "output": f"{folder}/task-%a.txt",
        }
        lines = [f"#SBATCH --{n}={v}" for n, v in options.items() if v is not None]
        return [*lines, "#SBATCH --no-requeue", *self.lines]

    def _submit(self) -> None:
        """Submit what waits; a controller that does not answer is asked again."""
        for waiting in tuple(self._unsent):
            stopping = [task for task in waiting.tasks if task.stop_by is not None]
            if len(stopping) == len(waiting.tasks):
                self._unsent.remove(waiting)
                for task in stopping:
                    self._end(task, "stopped", Message("stopped.before_start"))
                continue
            try:
                job = self.scheduler.submit(waiting.batch.script, len(waiting.tasks))
            except SchedulerDown as error:
                log.warning("Slurm does not answer, and is asked again: %s", error)
                return
            self._unsent.remove(waiting)
            for task in [task for task in self._running if task.id and task.id[0] == job]:
                self._end(
                    task, *self._outcome(UNKNOWN, task)
                )  # a controller that lost it gave its id
            for task in waiting.tasks:
                task.id = (job, task.index)

    # ---- what happens

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._beat[1] > _BEAT_S:
            self._beat = (self._beat[0] + 1, now)
            for batch in {task.batch for task in self._running}:
                with contextlib.suppress(OSError):
                    batch.beat(self._beat[0])
        for task in tuple(self._running):
            self._read(task)
        if now - self._polled >= self.poll_s and self._running:
            self._polled = now
            self._submit()
            with contextlib.suppress(SchedulerDown):
                self._poll(now)

    def _read(self, task: _Running) -> None:
        for event in task.inbox.new():
            if (event.trial, event.attempt) != task.names or task not in self._running:
                continue
            task.began = task.began or isinstance(event, Began)
            if isinstance(event, Ended):
                self._running.remove(task)
                event = self._explain(task, event)
            self._events.append(event)

    def _explain(self, task: _Running, ended: Ended) -> Ended:
        """A task ended by SIGTERM was pre-empted, or cancelled by hand, which Slurm knows."""
        reason = ended.outcome.reason
        if reason is None or reason.code != "slurm.terminated" or task.id is None:
            return ended
        until = time.monotonic() + _SETTLE_S  # while the task ends, its state is COMPLETING
        with contextlib.suppress(SchedulerDown):
            while (state := self.scheduler.state(task.id)) in ACTIVE and time.monotonic() < until:
                time.sleep(_READ_S)
            if state == "CANCELLED":
                end, cause = self._outcome(state, task)
                return Ended(*task.names, Outcome(end, cause, seconds=ended.outcome.seconds))
        return ended

    def _poll(self, now: float) -> None:
        """Find tasks that are over without having reported their end."""
        queued = [task for task in self._running if task.id is not None]
        jobs = sorted({task.id[0] for task in queued if task.id is not None})
        known = self.scheduler.states(jobs) if jobs else {}
        for task in queued:
            assert task.id is not None
            if known.get(task.id, UNKNOWN) in ACTIVE:
                task.silent_since = None
                self._overdue(task, now)
                continue
            task.silent_since = now if task.silent_since is None else task.silent_since
            if now - task.silent_since >= min(_SETTLE_S, 2 * self.poll_s):
                with contextlib.suppress(SchedulerDown):  # one task's answer delays no other
                    state = self.scheduler.state(task.id)
                    self._read(task)
                    if task in self._running and state not in ACTIVE:
                        self._end(task, *self._outcome(state, task))

    def _overdue(self, task: _Running, now: float) -> None:
        """End a task whose trial did not stop within its grace period."""
        assert task.id is not None
        if task.stop_by is not None and now > task.stop_by + _LATE_S:
            self.scheduler.cancel([task.id])
            self._end(task, "stopped", Message("stopped.grace_over"))

    def _end(self, task: _Running, end: End, cause: Message) -> None:
        if task in self._running:
            self._running.remove(task)
            self._events.append(Ended(*task.names, Outcome(end, cause)))

    def _outcome(self, state: str, task: _Running) -> tuple[End, Message]:
        """How an attempt ends whose task is over and did not report it."""
        if task.stop_by is not None:
            return "stopped", Message("stopped.before_start" if not task.began else "stopped.asked")
        facts = {"task": "_".join(map(str, task.id or ()))}
        if state == "PREEMPTED":
            return "stopped", Message("slurm.preempted", facts)
        if state == "OUT_OF_MEMORY":
            return "infeasible", Message("memory.killed", {"what": "trial"})
        if task.batch.restart_file(task.index).exists():
            return "stopped", Message("slurm.restarted", facts)
        trial = task.assignment.trial
        if state == UNKNOWN and self._forgotten[trial] < FORGIVEN:
            self._forgotten[trial] += 1
            return "stopped", Message("slurm.forgotten", facts)
        return "died", Message("slurm.ended", {**facts, "state": state})
