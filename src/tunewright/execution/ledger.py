"""The supervisor's ledger: commits accounts together, and waits for a store out of reach.

An attempt's end is written to its trial folder first, then committed to the store. If the store
cannot be reached, the ledger tries again with growing pauses for ten minutes while training
continues; what is in the folders is replayed at the next start.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tunewright import snapshot
from tunewright.errors import OutOfDate, StoreError
from tunewright.execution.account import Account
from tunewright.execution.handle import FOLDER as SNAPSHOTS
from tunewright.execution.retry import Patience
from tunewright.store import backup
from tunewright.store.database import RESERVE_MB, short_of_space
from tunewright.store.rounds import inside
from tunewright.store.spool import TRIAL_FILE, write_result, write_trial
from tunewright.store.store import Store
from tunewright.store.trial import Claim

_REDONE_S = 60.0  # training done again rather than leave a hole in its curves
_LAST = 2  # snapshots that stay for resuming
BACKUP_AGAIN_S = 60.0  # after one that failed
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Committed:
    """What became of some accounts: in the store, or refused since their lease was lost."""

    written: list[Account] = field(default_factory=list)
    lost: list[Account] = field(default_factory=list)


class Ledger:
    """Commits accounts to the store, and keeps the trial folders and the backups."""

    def __init__(self, store: Store, root: Path, say: Callable[[str], None]) -> None:
        """`root` is the folder of trials; `say` shows a message."""
        self._store = store
        self._root = root
        self._say = say
        self._patience = Patience(say)
        self._shortage: str | None = None
        self._snapshot_mb = 0.0  # kept free for one, beside the reserve
        self._backup_at = 0.0  # not before, by the monotonic clock

    def holds_off(self, now: float) -> bool:
        """Whether the store could not be reached a moment ago."""
        return self._patience.holds_off(now)

    def patiently(self, now: float) -> contextlib.AbstractContextManager[None]:
        """A use of the store that may fail for a while."""
        return self._patience.trying(now, self._disk_is_full)

    def open_folder(self, claim: Claim) -> Path:
        """The trial's folder, with what is being tried."""
        folder = inside(self._root, claim.folder)
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
        snapshots = snapshot.list_snapshots(folder / SNAPSHOTS)
        last = snapshots[:_LAST]  # the best one may be recorded and much older
        recorded = [at for at, saved in enumerate(last) if saved.path.name in known]
        if recorded:
            unrecorded = last[: recorded[0]]
        elif snapshots and _seconds_between(folder / TRIAL_FILE, snapshots[0].path) < _REDONE_S:
            unrecorded = [saved for saved in snapshots if saved.path.name not in known]
        else:
            unrecorded = []
        for each in unrecorded:
            snapshot.remove(each)

    def commit(self, accounts: Sequence[Account], now: float) -> Committed:
        """Write what is new of these accounts in one transaction; nothing if that fails for now."""
        self.spool([account for account in accounts if account.outcome is not None])
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
        written = [account for account in accounts if account not in lost]
        for account in written:
            account.settle(now)
        return Committed(written, lost)

    def spool(self, ended: Sequence[Account]) -> None:
        """Leave these ends in the trial folders; without space only the store gets them."""
        for account in ended:
            if account.spooled:
                continue
            account.recall(self._store)
            try:
                spool(account, self._root)
            except StoreError as error:
                log.warning("%s", error)

    # ---- space and backups

    def has_space(self) -> bool:
        """Whether there is room for new trials; reports each change once."""
        shortage = self._short(self._snapshot_mb)
        if shortage and not self._shortage:
            self._say(f"paused: {shortage}")
        elif self._shortage and not shortage:
            self._say("there is space again: continuing")
        self._shortage = shortage
        return shortage is None

    def reserve(self, needed_mb: float) -> None:
        """Begin trials only where a snapshot of this size fits as well: one did not."""
        self._snapshot_mb = max(self._snapshot_mb, needed_mb)

    def _short(self, more_mb: float = 0.0) -> str | None:
        shortage = short_of_space(self._root, RESERVE_MB + more_mb)
        if shortage is None and self._store.path is not None:
            shortage = short_of_space(self._store.path.parent)
        return shortage

    def _disk_is_full(self) -> bool:
        return self._short() is not None

    def back_up(self, at_once: bool = False) -> None:
        """Make a backup of a SQLite store if one is due; a failure is reported and ignored."""
        path, now = self._store.path, time.monotonic()
        if path is None or not (at_once or (now >= self._backup_at and backup.due(path))):
            return
        self._backup_at = now + BACKUP_AGAIN_S
        if self._disk_is_full():
            return  # the reserve is for what trials still tell
        try:
            backup.make(path)
        except StoreError as error:
            self._say(str(error))


def _seconds_between(begin: Path, end: Path) -> float:
    """How much later one file was written than another; endless when that is not known."""
    try:
        return end.stat().st_mtime - begin.stat().st_mtime
    except OSError:
        return math.inf


def spool(account: Account, root: Path) -> None:
    """Write an attempt's end, with the points the store may not have, to its trial folder."""
    write_result(inside(root, account.claim.folder), account.end_event())
    account.spooled = True
