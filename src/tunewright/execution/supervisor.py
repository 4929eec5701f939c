"""The supervisor: claim trials, have them trained, and record what becomes of them.

One turn of its loop: handle signals and requests, take back what dead owners held, claim trials for
the free slots, receive events of the executor, and commit what is due, many trials at once. Nobody
else writes to the store; whatever ends it, the trials it held go back to pending.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tunewright.budgets.gate import Gate
from tunewright.errors import StoreError
from tunewright.execution.account import Account
from tunewright.execution.command import Command
from tunewright.execution.conclude import conclude, metrics_to_watch, space_needed_mb
from tunewright.execution.early_stopping import EarlyStopping
from tunewright.execution.executors.executor import (
    Assignment,
    Ended,
    Event,
    Executor,
    Logged,
    Noted,
    Stepped,
)
from tunewright.execution.executors.inline import Inline
from tunewright.execution.heartbeat import Heartbeat
from tunewright.execution.interrupts import Interrupt, Interrupts
from tunewright.execution.ledger import Ledger
from tunewright.execution.line_proposals import propose
from tunewright.execution.prepare import command_line
from tunewright.execution.processes.output import beginning_and_end, last_lines, log_name
from tunewright.execution.progress import Progress
from tunewright.execution.sources import sources
from tunewright.execution.suggest import fill_claims
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.progress.watcher import RoundStarted, Watcher, Why
from tunewright.search.search import Search
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import NEVER_LOGGED, Outcome
from tunewright.store.provenance import Provenance
from tunewright.store.rounds import inside
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Claim

_TURN_S = 0.5  # the longest wait for events: signals are handled at least this often
_MEANWHILE_S = 0.02  # the longest wait for events while a search thinks
LOOK_S = 1.0  # how often the store is asked for requests, dead owners and new trials
_LAST_WORDS_S = 0.2  # for ends that are on their way when the supervisor itself must end
GRACE_S = 30.0  # between the request to save and the end
SCARCE_S = 2.0  # before another try to start a worker, where the machine has no process left
# why one folder cannot be used while those beside it can
_OWN_FOLDER = (
    *(errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP),
    *(errno.ENAMETOOLONG, errno.ENOTEMPTY),
)
_FIRST_FAILURES = 5  # a round whose first trials all fail has a broken workload
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RoundJob:
    """What a supervisor works on, and with what."""

    store: Store
    record: RoundRecord
    heartbeat: Heartbeat  # whose worker owns the trials
    workload: Workload
    executor: Executor
    search: Search
    root: Path  # the folder of trials
    watch: Watcher
    claim: Callable[[int], list[Claim]]  # up to so many trials to train now
    provenance: Provenance
    opening: RoundStarted  # what the watcher learns first
    leases: LeaseWatch = field(default_factory=LeaseWatch)
    notes: tuple[str, ...] = ()  # advice to tell at the beginning
    limit: int | None = None  # trials to bring to an end in this call
    deadline: float | None = None  # by the monotonic clock: no new trials after it
    waits: bool = True  # for trials that other workers run
    early_stopping: EarlyStopping | None = None  # of trials that cannot win


class Supervisor:
    """The loop; `work` returns why it came to its end."""

    def __init__(self, job: RoundJob, interrupts: Interrupts) -> None:
        """Nothing is claimed yet."""
        self._job = job
        self._interrupts = interrupts
        self._watched = metrics_to_watch(job.workload.objective, job.workload.meaning)
        self._accounts: dict[int, Account] = {}  # by trial
        self._ledger = Ledger(job.store, job.root, job.watch.message)
        self.gate = Gate.of(job.store, job.workload.budget)
        self.progress = Progress(job.store, job.record, job.watch, job.opening)
        if isinstance(job.executor, Inline):
            job.executor.watching = self._glance
            job.executor.hearing = self._consider if job.early_stopping is not None else None
        self._why: Why | None = None  # no new trials from now on
        self._handled = Interrupt.NONE  # the last one that was handled
        self._stopped: set[int] = set()  # trials asked to stop
        self._stopped_numbers: frozenset[int] = frozenset()  # numbers of trials that users stopped
        self._drained = False  # the last claim found fewer trials than there were slots
        self._unsure = False  # a claim failed half-way: some trial may be ours unknown to us
        self._look_at = self._claim_at = 0.0
        # an observer that looks more seldom than every third of the lease sees nobody die
        self._look_s = min(LOOK_S, job.leases.lease_s / 10)
        self._turn_s = min(_TURN_S, job.leases.lease_s / 10)

    def work(self) -> Why:
        """Run until nothing is left to do, or somebody wants an end."""
        try:
            while True:
                self._look_around(time.monotonic())
                self._refill(time.monotonic())
                if not self._busy() and (why := self._over()):
                    return why
                self._hear()
                self._flush(time.monotonic())
        finally:
            self._abandon()

    def on_interrupt(self, level: Interrupt) -> None:
        """Pass a stop on from the signal handler, to training in this very thread."""
        if level >= Interrupt.STOP and isinstance(self._job.executor, Inline):
            for trial in tuple(self._accounts):
                self._job.executor.stop(trial, 0.0)
            if level == Interrupt.AT_ONCE:
                raise KeyboardInterrupt

    # ---- what others want

    def _look_around(self, now: float) -> None:
        if self._job.heartbeat.lost is not None and not self._ledger.holds_off(now):
            self._be_known(now)
        self._handle_signals()
        if self._job.deadline is not None and now >= self._job.deadline and self._why is None:
            self._end("out of time", f"the time is over: {self._finishing()}")
        if now >= self._look_at and not self._ledger.holds_off(now):
            self._look_at = now + self._look_s
            with self._ledger.patiently(now):
                self._handle_requests()
                self._reclaim()
                self._ledger.back_up()
                if self._job.early_stopping is not None:  # others may run trials of the round
                    self._job.early_stopping.catch_up(self._job.store, self._job.record.id, now)

    def _be_known(self, now: float) -> None:
        """Go on under a new name after others took this process for dead: it slept, or was cut off.

        What it trained is theirs by now. A supervisor that was replaced meanwhile is Busy.
        """
        with self._ledger.patiently(now):
            loss = self._job.heartbeat.lost
            self._job.heartbeat.renew()
            self._say(f"{loss} Continuing with new trials.")
            for account in tuple(self._accounts.values()):
                self._lose(account)

    def _handle_signals(self) -> None:
        level = self._interrupts.level
        if level == self._handled:
            return
        self._handled = level
        why: Why = "terminated" if self._interrupts.terminated else "interrupted"
        if level == Interrupt.FINISH:
            again = ". Ctrl-C again: they save and stop, to be resumed later"
            self._end(why, f"no new trials; {self._finishing()}{again if self._accounts else ''}")
        elif level == Interrupt.STOP:
            self._end(why, f"{self._running()} asked to save and stop, within {GRACE_S:.0f} s")
            self._stop_all(GRACE_S)
        else:
            self._end(why, f"{self._running()} ended at once")
            self._stop_all(0.0)

    def _handle_requests(self) -> None:
        stops = self._job.store.stops(self._job.record.id)
        self._stopped_numbers = stops.numbers
        if stops.everything and self._why != "asked to stop":
            self._end("asked to stop", f"asked to stop: {self._running()} save and stop")
            self._stop_all(GRACE_S)
        for trial, account in self._accounts.items():
            if account.claim.number in stops.numbers and trial not in self._stopped:
                self._say(f"trial {account.claim.number} was asked to stop")
                self._stop(trial, GRACE_S)

    def _reclaim(self) -> None:
        job = self._job
        for lost in job.store.reclaim(job.record.id, job.leases, job.root):
            self._claim_at = 0.0
            became = f"is {lost.ended_as}" if lost.ended_as else "goes back to pending"
            self._say(f"{_name(lost.number)} {became}: its owner is gone ({lost.owner})")

    def _end(self, why: Why, text: str) -> None:
        self._why = why
        self._say(text)

    def _stop_all(self, grace_s: float) -> None:
        for trial in tuple(self._accounts):
            self._stop(trial, grace_s)

    def _stop(self, trial: int, grace_s: float) -> None:
        self._stopped.add(trial)
        self._job.executor.stop(trial, grace_s)

    # ---- new trials

    def _refill(self, now: float) -> None:
        free = self._job.executor.slots - len(self._accounts)
        if self._job.limit is not None:
            free = min(free, self._job.limit - self.progress.ended - len(self._accounts))
        if self._why or free <= 0 or now < self._claim_at or self._ledger.holds_off(now):
            return
        if not self._ledger.has_space():
            self._claim_at = now + LOOK_S
            return
        origin = self._origin()
        with self._ledger.patiently(now):
            free = self._within_budget(free)
            if not free:
                return
            self._unsure, before = True, self._unsure
            with self._job.store.transaction():
                claims = self._job.claim(free)
                for claim in claims:
                    self._job.store.add_provenance(claim, origin)
            self._unsure = before
            self.gate.count(len(claims))
            self._drained = len(claims) < free
            self._claim_at = now + LOOK_S if self._drained else now
            try:
                self._start(claims)
            except BaseException:
                self._give_back(claims)
                raise

    def _within_budget(self, free: int) -> int:
        """So many trials as the budget allows; with none left over, no trial begins any more."""
        allowed = self.gate.allows(free)
        if allowed:
            return allowed
        if self._accounts:
            self._claim_at = time.monotonic() + LOOK_S  # what runs may be the last to be claimed
        elif self._anything_left():
            self._end("budget spent", Message("budget.ends").text)
        else:
            self._drained = True
        return 0

    def _anything_left(self) -> bool:
        """Whether a trial waits to be claimed: without one a spent budget refuses nothing."""
        job = self._job
        if job.opening.what == "repeats":
            return job.opening.total - job.opening.done > self.progress.ended
        return job.store.round(job.record.name).counts.get("pending", 0) > len(
            self._stopped_numbers
        )

    def _origin(self) -> Provenance:
        """The provenance of an attempt that starts now; a command's files are read each time."""
        job = self._job
        if not isinstance(job.workload.train, Command):
            return job.provenance
        now = sources(job.workload.train)
        return (
            job.provenance
            if now == job.provenance.sources
            else replace(job.provenance, sources=now)
        )

    def _start(self, claims: Sequence[Claim]) -> None:
        job = self._job
        busy = self._spool_ends if self._accounts else None
        ready, enough = fill_claims(job.store, job.record, job.search, claims, busy)
        if not enough:
            self._end("no suggestion", f"{job.search.name} has nothing more to suggest")
        blocked: list[Ended] = []
        assignments = [a for claim in ready if (a := self._assignment(claim, blocked))]
        for claim in ready:
            folder = job.root / claim.folder
            command = command_line(job.workload, claim.configuration or {}, claim.seed, folder)
            self._accounts[claim.trial] = Account(claim, self._watched, time.monotonic(), command)
            if job.early_stopping is not None:
                job.early_stopping.watch(claim, job.store)
        if assignments:
            job.executor.start(job.workload, assignments)
        for end in blocked:
            self._take(end)
        running = len(self._accounts) - len(ready)
        for claim in ready:
            running += 1
            self.progress.note_start(claim, running)

    def _assignment(self, claim: Claim, blocked: list[Ended]) -> Assignment | None:
        """What to train; nothing, and its end in `blocked`, if its folder alone cannot be used."""
        try:
            folder = self._ledger.open_folder(claim)
        except StoreError as error:
            cause = error.__cause__
            if not (isinstance(cause, OSError) and cause.errno in _OWN_FOLDER):
                raise
            if not os.access(self._job.root, os.W_OK | os.X_OK):
                raise  # all of them are out of reach: that is waited for
            reason = Message("trial.no_folder", {"folder": claim.folder, "text": str(cause)})
            blocked.append(Ended(claim.trial, claim.attempt, Outcome("failed", reason)))
            return None
        return Assignment(
            trial=claim.trial,
            attempt=claim.attempt,
            number=claim.number,
            round=self._job.record.name,
            configuration=claim.configuration or {},
            seed=claim.seed,
            split_seed=claim.split_seed,
            folder=folder,
            eval_every=self._job.workload.eval_every,
        )

    def _give_back(self, claims: Sequence[Claim]) -> None:
        """Put back what could not be started; if even that fails, our own end does it."""
        for claim in claims:
            self._accounts.pop(claim.trial, None)
            with contextlib.suppress(StoreError):
                self._job.store.end(claim, Outcome("stopped", Message("stopped.not_started")))

    # ---- what happens to them

    def _hear(self) -> None:
        if not self._accounts:
            time.sleep(self._turn_s if self._drained else LOOK_S / 10)
            return
        for event in self._job.executor.events(self._turn_s):
            self._take(event)

    def _spool_ends(self) -> None:
        """Receive events of the executor, and bring ends to the trial folders before any commit."""
        for event in self._job.executor.events(_MEANWHILE_S):
            self._take(event)
        self._ledger.spool([a for a in self._accounts.values() if a.outcome is not None])

    def _take(self, event: Event) -> None:
        account = self._accounts.get(event.trial)
        if account is None or account.claim.attempt != event.attempt or account.outcome:
            return  # of an attempt that is not ours any more
        if isinstance(event, Noted):
            self._note(event)
            return
        if not isinstance(event, Ended):
            account.take(event)
            self.progress.note_step(account)
            if isinstance(event, Logged) and not isinstance(self._job.executor, Inline):
                self._consider(event)
            return
        seen = self.progress.trial_log(account, event.outcome)
        objective, deaths = self._job.workload.objective, account.claim.attempts_died
        outcome = conclude(event.outcome, seen, objective, deaths)
        if (early := self._job.early_stopping) is not None:
            reason = early.forget(event.trial)
            if reason is not None and outcome.becomes == "pending":
                outcome = replace(outcome, status="pruned", reason=reason)
        account.end(self._with_log(account, outcome))

    def _consider(self, event: Logged) -> None:
        """Stop a trial that cannot win; one that trains in this thread is seen from another."""
        early = self._job.early_stopping
        if early is not None and early.look(event.trial, event.points) is not None:
            self._stop(event.trial, GRACE_S)

    def _glance(self, event: Stepped) -> None:
        """A step of a trial that trains in this very thread, seen from another."""
        account = self._accounts.get(event.trial)
        if account is not None and account.outcome is None:
            account.take(event)
            self.progress.note_step(account)

    def _note(self, event: Noted) -> None:
        """Show a note of a trial, and keep it with the round."""
        self._say(event.message.text)
        with self._ledger.patiently(time.monotonic()):
            self._job.store.note(self._job.record, event.message.text)

    def _with_log(self, account: Account, outcome: Outcome) -> Outcome:
        """The outcome of a program that logged nothing, with its log and what that looks like."""
        reason = outcome.reason
        if reason is None or reason.code != NEVER_LOGGED:
            return outcome
        log_file = inside(self._job.root, account.claim.folder) / log_name(account.claim.attempt)
        command = isinstance(self._job.workload.train, Command)
        text = beginning_and_end(log_file)
        metric = self._job.workload.objective.metric
        read = propose(text, metric) if command else ()
        more = {"command": command, "read": list(read)}
        detail = outcome.detail or last_lines(log_file)
        return replace(
            outcome, reason=Message(reason.code, {**reason.facts, **more}), detail=detail
        )

    def _flush(self, now: float) -> None:
        due = [account for account in self._accounts.values() if account.due(now)]
        if not due or self._ledger.holds_off(now):
            return
        committed = self._ledger.commit(due, now)
        for account in committed.lost:
            self._lose(account)
        for account in committed.written:
            if account.outcome is not None:
                self._conclude(account, account.outcome)

    def _conclude(self, account: Account, outcome: Outcome) -> None:
        trial = account.claim.trial
        del self._accounts[trial]
        self._stopped.discard(trial)
        self._claim_at = 0.0
        if (needed := space_needed_mb(outcome)) is not None:
            self._ledger.reserve(needed)
        reason = outcome.reason
        if reason is not None and reason.code == "trial.not_started":
            self._claim_at = time.monotonic() + SCARCE_S
        if self._job.early_stopping is not None:
            with contextlib.suppress(StoreError):  # one curve less: stopping begins later
                self._job.early_stopping.learn([self._job.store.trial(trial)])
        self.progress.ends(account, outcome, running=len(self._accounts))
        if self._why is None and self.progress.hopeless(_FIRST_FAILURES):
            facts = {
                "trial": account.claim.number,
                "trials": self.progress.ended,
                "mute": self.progress.ended < _FIRST_FAILURES,
                "reason": (reason or Message("trial.failed", {"text": ""})).to_data(),
                "finishing": self._finishing(),
            }
            self._end("all failed", Message("round.hopeless", facts).text)

    def _lose(self, account: Account) -> None:
        """Our lease on it was taken: what it still does must not be seen."""
        name = _name(account.claim.number)
        self._say(f"{name} was taken by another owner: what it reported since is dropped")
        del self._accounts[account.claim.trial]
        self._job.executor.stop(account.claim.trial, 0.0)

    # ---- the end

    def _busy(self) -> bool:
        """Whether something of ours runs or, unless somebody is in a hurry, waits for the store."""
        if self._handled == Interrupt.AT_ONCE:
            return any(account.outcome is None for account in self._accounts.values())
        return bool(self._accounts)

    def _over(self) -> Why | None:
        """Why there is nothing more to do, now that nothing of ours runs."""
        if self._why is not None:
            return self._why
        if self._job.limit is not None and self.progress.ended >= self._job.limit:
            return "limit"
        if not self._drained or self._ledger.holds_off(time.monotonic()):
            return None
        if self._unsure:
            with self._ledger.patiently(time.monotonic()):
                self._job.heartbeat.renew()
                self._unsure = self._drained = False
            return None
        if self._job.waits and self._others_run():
            return None
        return "finished"

    def _others_run(self) -> bool:
        """Whether other workers hold trials that may still come back to us."""
        try:
            counts = self._job.store.round(self._job.record.name).counts
        except StoreError:
            return True
        return bool(counts.get("running")) or counts.get("pending", 0) > len(self._stopped_numbers)

    def _abandon(self) -> None:
        """End what still runs and put it back to pending; what has just ended counts as ended."""
        if self._accounts:
            with contextlib.suppress(Exception):  # something else is being raised already
                for event in self._job.executor.events(_LAST_WORDS_S):
                    self._take(event)
        for trial in tuple(self._accounts):
            self._job.executor.stop(trial, 0.0)
        self._job.executor.close()
        now = time.monotonic()
        for account in self._accounts.values():
            if account.outcome is None:
                cause = Message("stopped.supervisor_ended")
                account.end(Outcome("stopped", cause, seconds=now - account.began_at))
        if self._accounts:
            try:
                self._ledger.commit(list(self._accounts.values()), now)
            except StoreError as error:
                # spooled, or reclaimed by the next owner: nothing that was finished is lost
                log.warning("the end could not be committed: %s", error)
            self._accounts.clear()
        if self.progress.ended:
            self._ledger.back_up(at_once=True)

    # ---- words

    def _say(self, text: str) -> None:
        self._job.watch.message(text)

    def _running(self) -> str:
        count = len(self._accounts)
        return f"the {count} running trials" if count != 1 else "the running trial"

    def _finishing(self) -> str:
        if not self._accounts:
            return "nothing runs"
        ages = [time.monotonic() - account.began_at for account in self._accounts.values()]
        left = self.progress.time_left(ages)
        many = len(ages) != 1
        return f"{self._running()} {'finish' if many else 'finishes'}{f' ({left})' if left else ''}"


def _name(number: int | None) -> str:
    return "a repeat" if number is None else f"trial {number}"
