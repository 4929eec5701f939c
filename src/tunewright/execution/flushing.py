"""The supervisor's ledger: accounts are committed together, and a store out of reach is waited for.

An attempt's end is written to its trial folder first, then told to the store. If the store cannot
be reached, the ledger tries again with growing pauses for ten minutes while training goes on; what
is in the folders is taken over at the next start.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tunewright import snapshot
from tunewright.errors import Damaged, NotFound, OutOfDate, StoreError
from tunewright.execution.account import Account
from tunewright.execution.handle import FOLDER as SNAPSHOTS
from tunewright.record import backup
from tunewright.record.claims import Claim
from tunewright.record.reserve import short_of_space
from tunewright.record.spool import TRIAL_FILE, SpooledResult, write_result, write_trial
from tunewright.record.store import Store

PATIENCE_S = 600.0  # with a store that cannot be reached
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0
REDONE_S = 60.0  # training done again rather than leave a hole in its curves
SPACE_S = 5.0  # how often the free space is looked at
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Committed:
    """What became of some accounts: in the record, or refused since their lease was taken."""

    settled: list[Account] = field(default_factory=list)
    lost: list[Account] = field(default_factory=list)


class Patience:
    """How long to go on with a store that cannot be reached, and when to try next."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """`say` is told once when the trouble begins, and once when it is over."""
        self._say = say
        self._since: float | None = None
        self._pause_s = FIRST_PAUSE_S
        self._again_at = 0.0

    def holds_off(self, now: float) -> bool:
        """Whether it is too early to try again."""
        return self._since is not None and now < self._again_at

    @contextlib.contextmanager
    def trying(self, now: float, full_disk: Callable[[], bool]) -> Iterator[None]:
        """A use of the store that may fail; raises what is final, or has lasted too long."""
        try:
            yield
        except (OutOfDate, NotFound, Damaged):
            raise
        except StoreError as error:
            self._failed(error, now, full_disk)
        else:
            if self._since is not None:
                self._say(f"the store is back after {now - self._since:.0f} s")
            self._since, self._pause_s = None, FIRST_PAUSE_S

    def _failed(self, error: StoreError, now: float, full_disk: Callable[[], bool]) -> None:
        if self._since is None:
            self._since = now
            self._say(f"{error} Trying again for {PATIENCE_S / 60:.0f} min; training goes on.")
        elif full_disk():
            self._since = now  # somebody has to free space, however long it takes
        elif now - self._since > PATIENCE_S:
            raise StoreError(
                f"the store could not be reached for {PATIENCE_S / 60:.0f} min: {error} What has "
                "ended is kept in the trial folders, and is taken over when the round is run again."
            ) from error
        self._again_at = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)


class Ledger:
    """Commits accounts to the store, and keeps the trial folders and the backups."""

    def __init__(self, store: Store, root: Path, say: Callable[[str], None]) -> None:
        """`root` is the folder of trials; `say` tells people."""
        self._store = store
        self._root = root
        self._say = say
        self._patience = Patience(say)
        self._shortage: str | None = None
        self._space_at = 0.0

    def holds_off(self, now: float) -> bool:
        """Whether the store could not be reached a moment ago."""
        return self._patience.holds_off(now)

    def patiently(self, now: float) -> contextlib.AbstractContextManager[None]:
        """A use of the store that may fail for a while."""
        return self._patience.trying(now, self._disk_is_full)

    def open_folder(self, claim: Claim) -> Path:
        """The trial's folder, with what is being tried."""
        folder = self._root / claim.folder
        if claim.attempt > 1:
            self._forget_unrecorded(claim, folder)
        write_trial(folder, claim)
        return folder

    def _forget_unrecorded(self, claim: Claim, folder: Path) -> None:
        """Drop snapshots newer than the newest recorded one, so that no curve gets a hole.

        A supervisor that was killed between a snapshot and its commit took the points before it
        along. If none on the disk is recorded, a hole is better than much training done again.
        """
        known = {PurePosixPath(saved.path).name for saved in self._store.snapshots(claim.trial)}
        found = snapshot.listed(folder / SNAPSHOTS)
        recorded = [at for at, saved in enumerate(found) if saved.path.name in known]
        if recorded:
            unrecorded = found[: recorded[0]]
        elif found and _seconds_between(folder / TRIAL_FILE, found[0].path) < REDONE_S:
            unrecorded = found
        else:
            unrecorded = []
        for each in unrecorded:
            snapshot.remove(each)

    def commit(self, accounts: Sequence[Account], now: float) -> Committed:
        """Write what is new of these accounts in one transaction; nothing if that fails for now."""
        for account in accounts:
            if account.ending is not None and not account.spooled:
                self._spool(account)
        lost: list[Account] = []
        done = False
        with self.patiently(now):
            with self._store.transaction():
                for account in accounts:
                    try:
                        account.write(self._store)
                    except OutOfDate as error:
                        log.info("%s", error)
                        lost.append(account)
            done = True
        if not done:
            return Committed()
        settled = [account for account in accounts if account not in lost]
        for account in settled:
            account.settle(now)
        return Committed(settled, lost)

    def _spool(self, account: Account) -> None:
        """Leave the end in the trial folder; without space for it the store is told alone."""
        account.recall(self._store)
        try:
            spool(account, self._root)
        except StoreError as error:
            log.warning("%s", error)

    # ---- space and backups

    def has_space(self, now: float) -> bool:
        """Whether there is room for new trials; says so once when there is not, and once when."""
        if now >= self._space_at:
            self._space_at = now + SPACE_S
            shortage = self._short()
            if shortage and not self._shortage:
                self._say(f"paused: {shortage}")
            elif self._shortage and not shortage:
                self._say("there is space again: going on")
            self._shortage = shortage
        return self._shortage is None

    def _short(self) -> str | None:
        places = [self._root, self._store.path and self._store.path.parent]
        return next((said for place in places if place and (said := short_of_space(place))), None)

    def _disk_is_full(self) -> bool:
        return self._short() is not None

    def back_up(self, at_once: bool = False) -> None:
        """Make a backup of a SQLite store if one is due; a failure is said and passed over."""
        path = self._store.path
        if path is None or not (at_once or backup.due(path)):
            return
        try:
            backup.make(path)
        except StoreError as error:
            self._say(str(error))


def _seconds_between(begin: Path, end: Path) -> float:
    """How much later one file was written than another; endless when that cannot be told."""
    try:
        return end.stat().st_mtime - begin.stat().st_mtime
    except OSError:
        return math.inf


def spool(account: Account, root: Path) -> None:
    """Write an attempt's end, with the points the store may not have, to its trial folder."""
    assert account.ending is not None
    told, verdict = account.ending.told, account.ending.verdict
    batches, first = account.unsaid()
    if account.whole is not None:
        batches, first = account.whole, 0
    result = SpooledResult(
        trial=account.claim.trial,
        attempt=account.claim.attempt,
        status=verdict.status,
        reason=verdict.reason,
        detail=verdict.detail,
        seconds=told.seconds,
        peak_memory_mb=told.peak_memory_mb,
        died=verdict.died,
        start_step=account.start_step,
        first=first,
        batches=batches,
    )
    write_result(root / account.claim.folder, result)
    account.spooled = True
