"""Trial files of ask and tell: written by a thread while the same end is committed to the store.

The store is flushed to the disk, these files are not: they are for the day when the store is lost,
and making a file takes as long as everything else that a session does for a trial.
"""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from tunewright.errors import StoreError
from tunewright.store.outcome import Ended
from tunewright.store.spool import write_result, write_trial
from tunewright.store.trial import Claim

WAITING = 64  # ends that may wait for a slow disk before the program waits too
log = logging.getLogger(__name__)


class TrialFiles:
    """Writes `trial.json` and `result.<attempt>.json`; leaving the block waits for the last."""

    def __init__(self) -> None:
        """The thread starts with the first end."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tunewright-files")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> TrialFiles:
        """Use it for a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
