"""A trial of ask-and-tell: its configuration, and what is logged of it until it ends."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import BadValue, TunewrightError, WorkloadError
from tunewright.execution.account import Account
from tunewright.execution.cadence import went_back
from tunewright.execution.conclude import conclude, metrics_to_watch
from tunewright.execution.early_stopping import EarlyStopping
from tunewright.execution.executors.executor import Event, Logged, Saved
from tunewright.execution.reported_values import as_name, as_number, as_step
from tunewright.measured import Measured
from tunewright.messages import Message
from tunewright.seeds import Seeds, seeds
from tunewright.store.curves import Logged as Batch, pack, plain
from tunewright.store.outcome import Outcome
from tunewright.store.rounds import inside
from tunewright.store.spool import write_trial
from tunewright.store.trial import Claim, Status

_MOST_POINTS = 10_000  # then they are packed, whoever waits for company


class Asked:
    """One open trial of a session; `finish`, `infeasible` or `fail` ends it.

    On ranks other than 0 it checks its arguments and writes nothing.
    """

    def __init__(
        self,
        claim: Claim,
        objective: Objective,
        meaning: Meaning,
        root: Path | None,
        commit: Callable[[Asked], None],
        early: EarlyStopping | None = None,
    ) -> None:
        """`commit` writes what is new to the store; sessions make these, users use them."""
        self.configuration: Mapping[str, Value] = dict(claim.configuration or {})
        self.number = claim.number
        self.attempt = claim.attempt  # from 1; more when an earlier owner was lost
        self.seeds: Seeds = seeds(claim.seed, claim.split_seed, rank())
        self.status: Status = "running"
        self.account = Account(claim, metrics_to_watch(objective, meaning), time.monotonic())
        self._objective = objective
        self._root = root
        self._commit = commit
        self._early = early
        self._cannot_win: Message | None = None
        self._stop_seen = False  # on every rank; rank 0 alone knows why
        self._points: Batch = {}
        self._count = 0
        self._last: int | None = None

    def __repr__(self) -> str:
        """Which one it is, and how it stands."""
        return f"Asked(number={self.number}, {self.status}, {dict(self.configuration)})"

    @property
    def seed(self) -> int:
        """The trial's recorded seed; `seeds` has one for every purpose."""
        return self.seeds.trial

    @property
    def folder(self) -> Path:
        """A folder of the trial's own, made now, the same for every attempt."""
        if self._root is None:
            raise WorkloadError("session.no_folder")
        folder = inside(self._root, self.account.claim.folder)
        if rank() == 0 and not folder.exists():
            write_trial(folder, self.account.claim)
        return folder

    @property
    def diverged(self) -> bool:
        """Whether a non-finite objective or loss was logged: it will be infeasible, so stop it."""
        self._pack()
        return self.account.seen.diverged is not None

    @property
    def stop_asked(self) -> bool:
        """Whether early stopping has ruled it out: stop training, then `finish` it as pruned.

        In a process group every rank asks at the same place, and gets the answer of rank 0.
        """
        self._stop_seen = bool(shared(lambda: self._cannot_win is not None))
        return self._stop_seen

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Record metrics at a step: `trial.log(step, valid_error=x)`, or a dictionary.

        A value is a number, or `tw.Measured` where its uncertainty is known.
        """
        self._check_open("log")
        try:
            step = as_step(step)
            if self._last is not None and step < self._last:
                raise went_back(self.number, step, self._last)
            values = {
                as_name(name): value if isinstance(value, Measured) else as_number(name, value)
                for name, value in {**(metrics or {}), **named}.items()
            }
        except BadValue as error:  # which would end this whole program: it is not inside a worker
            more = [Message("error.text", {"text": error.detail})] if error.detail else []
            raise WorkloadError.several([error.reason, *more]) from None
        self._last = step
        for name, value in values.items():
            steps, numbers = self._points.setdefault(name, ([], []))
            steps.append(step)
            numbers.append(value)
        self._count += len(values)
        if self._early is not None and self._objective.metric in values:
            latest = float(values[self._objective.metric])
            point = pack({self._objective.metric: ([step], [latest])})
            reason = self._early.look(self.account.claim.trial, point)
            self._cannot_win = self._cannot_win or reason
        now = time.monotonic()
        if self._count >= _MOST_POINTS or now >= self.account.due_at(now):
            self._pack()
            self._commit(self)

    def finish(self) -> None:
        """It was trained to its end: completed, or infeasible if it diverged on the way.

        After `stop_asked`, and before the last step of its schedule, it is pruned. Without the
        objective ever logged it is failed; `status` is what it became.
        """
        self._check_open("finish")
        self._pack()
        seen = self.account.seen
        trial = self.account.claim.trial
        stopped = self._stop_seen if self._early is None else self._cannot_win is not None
        whole = self._early is not None and self._early.reached_end(trial)
        if stopped and not whole and seen.diverged is None:
            self._end(Outcome("pruned", self._cannot_win))
            return
        self._end(conclude(Outcome("completed"), seen, self._objective, deaths=0))

    def infeasible(self, reason: str) -> None:
        """This configuration cannot be trained: data to learn from."""
        self._end(Outcome("infeasible", Message("trial.infeasible", {"text": _line(reason)})))

    def fail(self, reason: str) -> None:
        """Something went wrong that is not the configuration's fault."""
        self._end(Outcome("failed", Message("trial.failed", {"text": _line(reason)})))

    # ---- for the session, and for a handle that reports to this trial

    def take(self, event: Event) -> None:
        """Note what a handle reports; a snapshot is committed at once, with the points before."""
        self.account.take(event)
        now = time.monotonic()
        if isinstance(event, Saved) or now >= self.account.due_at(now):
            self._commit(self)

    def give_up(self, cause: Message) -> None:
        """Put it back to pending, for somebody else."""
        self._end(Outcome("stopped", cause))

    def _end(self, outcome: Outcome) -> None:
        self._check_open("end")
        self._pack()
        self.account.end(replace(outcome, seconds=time.monotonic() - self.account.began_at))
        self.status = outcome.becomes
        self._commit(self)

    def _pack(self) -> None:
        if self._points:
            claim = self.account.claim
            self.account.take(Logged(claim.trial, claim.attempt, pack(*plain(self._points))))
            self._points, self._count = {}, 0

    def _check_open(self, verb: str) -> None:
        if self.status != "running":
            raise WorkloadError(
                "trial.already_ended", trial=self.number, status=self.status, verb=verb
            )


def _line(reason: object) -> str:
    return str(reason).strip()


# ---- Ask and tell under a process group: rank 0 asks and writes, the other ranks receive.
#
# PyTorch is looked for, never imported: without an initialised process group there is one rank.


def rank() -> int:
    """This process's rank; 0 without an initialised process group."""
    group = _group()
    return 0 if group is None else int(group.get_rank())


def shared(produce: Callable[[], Any]) -> Any:
    """What `produce` gives on rank 0, on every rank; plain JSON data. Every rank must call it.

    An exception of rank 0 is raised on every rank: none of them waits for an answer in vain.
    """
    group = _group()
    if group is None:
        return produce()
    if group.get_rank() != 0:
        box: list[str] = [""]
        group.broadcast_object_list(box, src=0)
        answer = json.loads(box[0])
        if "refused" in answer:
            raise TunewrightError("process_group.rank_zero_refused", reason=answer["refused"])
        return answer["given"]
    try:
        given = produce()
    except Exception as error:
        refusal = json.dumps({"refused": f"{type(error).__name__}: {error}"})
        group.broadcast_object_list([refusal], src=0)
        raise
    group.broadcast_object_list([json.dumps({"given": given})], src=0)
    return given


def _group() -> Any:
    group = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return group
