"""A session's desk: the one place of an ask-and-tell process (or group) that uses the store."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tunewright.budgets.gate import Gate
from tunewright.design.guards import refuse
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import DesignError, OutOfDate, StoreError
from tunewright.execution.account import Account
from tunewright.execution.early_stopping import EarlyStopping
from tunewright.execution.heartbeat import lease_s, on_duty
from tunewright.execution.ledger import BACKUP_AGAIN_S, spool
from tunewright.execution.prepare import notes_on, notes_on_earlier
from tunewright.execution.retry import FINAL, from_server, persist
from tunewright.execution.suggest import by_position, fill_claims, suggestions
from tunewright.search.listed import Listed
from tunewright.search.search import Search, vet
from tunewright.store.joined import with_earlier
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import Ended
from tunewright.store.provenance import capture
from tunewright.store.rounds import ASK_AND_TELL, inside
from tunewright.store.spool import write_result, write_trial
from tunewright.store.store import Store
from tunewright.store.trial import Claim

LOOK_S = 10.0  # how often a backup may be found due
log = logging.getLogger(__name__)


class Desk:
    """Claims trials for a session and writes what is reported of them to the store."""

    def __init__(
        self,
        round: Round,
        objective: Objective,
        meaning: Meaning,
        store: str | Path,
        search: Search,
        folder: str | Path | None,
        early_stopping: bool = False,
    ) -> None:
        """Begin or continue the round, and register this process as one of its workers."""
        refuse(round, objective, meaning)
        vet(search, round, objective)
        with contextlib.ExitStack() as stack:
            self.store = stack.enter_context(Store.open(store))
            chosen = None if folder is None else self.store.trial_root(Path(folder))
            self.record = from_server(
                self.store,
                lambda: self.store.begin(
                    round,
                    objective,
                    meaning,
                    search=search.name,
                    suggestions=suggestions(search),
                    command=ASK_AND_TELL,
                    folder="" if chosen is None else str(chosen),
                    ahead=by_position(search) is not None,
                ),
                log.warning,
            )
            self.root: Path | None = None  # PostgreSQL may go without: then nothing is spooled
            if self.store.path is not None or self.record.folder:
                self.root = self.store.root_of(self.record)
            duty = on_duty(self.store, self.record.id, "session", exclusive=False)
            self._heartbeat = stack.enter_context(duty)
            self._leases = LeaseWatch(lease_s())
            self._search = search
            self._provenance = capture()
            self.advice = (
                *notes_on(round, objective, meaning),
                *notes_on_earlier(self.store, round, meaning),
            )
            if not self.record.continued:
                from_server(self.store, self._keep_advice, log.warning)
            self._backup_at = 0.0  # not looked at before, by the monotonic clock
            self._held: set[int] = set()  # trials given out and not ended
            self._gate = Gate.of(self.store)
            self._files = stack.enter_context(contextlib.closing(TrialFiles()))
            self._ended = False  # some trial has: a backup is due at the close
            self._unsure = False  # a claim failed half-way: a trial may be ours unknown to us
            from_server(self.store, self._take_over, log.warning)
            self.early: EarlyStopping | None = None
            if early_stopping:
                self.early = EarlyStopping.of(with_earlier(self.store, self.record.name))
            self._stack = stack.pop_all()

    def _keep_advice(self) -> None:
        with self.store.transaction():
            for note in self.advice:
                self.store.note(self.record, note.text)

    def _take_over(self) -> None:
        """Take back what dead owners held, and take in what they left in the trial folders."""
        self.store.reclaim(self.record.id, self._leases, self.root)
        if self.root is not None:
            self.store.import_spool(self.record.id, self.root)
        if not self.store.round(self.record.name).counts.get("running"):
            # nobody is at work: stop requests were meant for those who were
            self.store.clear_stops(self.record.id)

    def close(self) -> None:
        """Make a backup of what has ended, go off duty and close the store."""
        try:
            if self._ended:
                self.store.back_up()
        except StoreError as error:
            log.warning("%s", error)
        finally:
            self._stack.close()

    def claim(self, count: int) -> list[Claim]:
        """Up to `count` trials with their configurations; none when none is left."""
        return persist(lambda: self._claim(count), log.warning)

    def _claim(self, count: int) -> list[Claim]:
        self._be_known()
        claims = self._take(count)
        if not claims and self._unsure and not self._held:
            self._heartbeat.renew()  # what the old name holds is nobody's
            self._unsure = False
        while not claims:
            if self.store.reclaim(self.record.id, self._leases, self.root):
                claims = self._take(count)
            if claims or not self._leases.suspects:
                break
            # nothing else is left: see whether a silent owner is dead, which takes a few looks
            time.sleep(self._leases.lease_s / 10)
        return claims

    def _take(self, count: int) -> list[Claim]:
        count = self._within_budget(count)
        if not count:
            return []
        before, self._unsure = self._unsure, True
        with self.store.transaction():
            claims = self.store.claim(
                self.record.id, self._heartbeat.worker, count, by_position(self._search)
            )
            for claim in claims:
                self.store.add_provenance(claim, self._provenance)
        ready, _ = fill_claims(self.store, self.record, self._search, claims)
        self._gate.count(len(claims))
        self._unsure = before
        self._held |= {claim.trial for claim in ready}
        if self.early is not None:
            self.early.catch_up(self.store, self.record.id, time.monotonic())
            for claim in ready:
                self.early.watch(claim, self.store)
        return ready

    def _within_budget(self, count: int) -> int:
        """So many trials as the budget allows; refuses where one waits and nothing is left."""
        allowed = self._gate.allows(count)
        if not allowed and self.store.round(self.record.name).counts.get("pending", 0):
            self._gate.refuse()
        return allowed

    def add(self, configuration: Mapping[str, Value]) -> Claim:
        """A trial for a configuration of one's own, which must lie within the round."""
        self._be_known()
        self._gate.refuse()
        listed = Listed([configuration])
        fits = []
        for study in self.record.round.studies:
            try:
                fits += [(study, point) for point in listed.suggest(study, (), 1)]
            except DesignError as error:
                place = {"source": "add()", "number": None}
                problems = [replace(p, facts={**p.facts, **place}) for p in error.problems]
                raise DesignError.several(problems) from None
        if len(fits) != 1:
            labels = ", ".join(study.label for study in self.record.round.studies)
            raise DesignError(
                "session.configuration_ambiguous",
                configuration=dict(configuration),
                count=str(len(fits) or "none"),
                labels=labels,
            )
        study, point = fits[0]
        with self.store.transaction():
            claim = self.store.add(
                self.record.id,
                self._heartbeat.worker,
                point.configuration,
                study.number,
                point.unit,
            )
            self.store.add_provenance(claim, self._provenance)
        self._gate.count(1)
        self._held.add(claim.trial)
        return claim

    def commit(self, account: Account) -> None:
        """Write what is new to the store; an end is tried again for ten minutes."""
        try:
            if account.outcome is None:
                self._write(account)
            else:
                self._leave(account)
                persist(lambda: self._write(account), lambda warning: self._keep(account, warning))
        except OutOfDate as error:
            log.warning("%s", error)  # another has the trial: its result will count
        except FINAL:
            raise
        except StoreError as error:
            if account.outcome is not None:
                raise self._loss(account, error) from error
            log.info("points wait: %s", error)
        if account.outcome is not None:
            self._held.discard(account.claim.trial)
            self._ended = True
            if self.early is not None:
                self.early.forget(account.claim.trial)
                with contextlib.suppress(StoreError):  # one curve less: stopping begins later
                    self.early.learn([self.store.trial(account.claim.trial)])
            self._back_up()

    def _leave(self, account: Account) -> None:
        """Write the trial and its end to its folder, from which a lost store is made again."""
        if self.root is not None:
            account.recall(self.store)
            folder = inside(self.root, account.claim.folder)
            self._files.write(folder, account.claim, account.end_event())

    def _back_up(self) -> None:
        """Make a backup of a SQLite store if one is due: nobody else may be there to do it."""
        now = time.monotonic()
        if now < self._backup_at:
            return
        self._backup_at = now + LOOK_S
        try:
            self.store.back_up(if_due=True)
        except StoreError as error:
            self._backup_at = now + BACKUP_AGAIN_S
            log.warning("%s", error)

    def _write(self, account: Account) -> None:
        with self.store.transaction():
            account.write(self.store)
        account.settle(time.monotonic())

    def _keep(self, account: Account, warning: str) -> None:
        """Bring an end that cannot be committed yet to the disk in the trial folder, if any."""
        log.warning("the end of trial %s waits: %s", account.claim.number, warning)
        if self.root is not None and not account.spooled:
            self._files.wait()  # one writer at a time
            try:
                spool(account, self.root)
            except StoreError as error:
                log.warning("%s", error)

    def _loss(self, account: Account, error: StoreError) -> StoreError:
        kept = "nowhere" if self.root is None else f"in {self.root / account.claim.folder}"
        return StoreError(
            "session.end_not_recorded", trial=account.claim.number, error=error, kept=kept
        )

    def _be_known(self) -> None:
        """Register anew after others took this process for dead: it slept longer than its lease."""
        if self._heartbeat.lost is not None:
            log.warning("%s", self._heartbeat.lost)
            self._heartbeat.renew()


# ---- Trial files of ask and tell: written by a thread while the same end is committed to the
# store.
#
# The store is flushed to the disk, these files are not: they are for the day when the store is
# lost, and making a file takes as long as everything else that a session does for a trial.


WAITING = 64  # ends that may wait for a slow disk before the program waits too


class TrialFiles:
    """Writes `trial.json` and `result.<attempt>.json`; `close` waits for the last."""

    def __init__(self) -> None:
        """The thread starts with the first end."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tunewright-files")
        self._waiting: deque[Future[None]] = deque()

    def close(self) -> None:
        """Wait for what is being written."""
        self._thread.shutdown(wait=True)

    def write(self, folder: Path, claim: Claim, ended: Ended) -> None:
        """Leave a trial and the end of its attempt in its folder, soon."""
        while len(self._waiting) >= WAITING:
            self._waiting.popleft().result()
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        self._waiting.append(self._thread.submit(_write, folder, claim, ended))

    def wait(self) -> None:
        """Return when everything given so far is written."""
        while self._waiting:
            self._waiting.popleft().result()


def _write(folder: Path, claim: Claim, ended: Ended) -> None:
    try:
        write_trial(folder, claim, flushed=False)
        write_result(folder, ended, flushed=False)
    except StoreError as error:  # the store has it
        log.warning("%s", error)
