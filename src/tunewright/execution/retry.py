"""Patience with a store that cannot be reached: a server restarts, a disk is full, a lock is held.

What may pass is tried again with growing pauses for ten minutes; what is final is raised at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from tunewright.errors import Damaged, NotFound, OutOfDate, StoreError
from tunewright.store.store import Store

PATIENCE_S = 600.0
_FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0
FINAL = (OutOfDate, NotFound, Damaged)
Answer = TypeVar("Answer")


class Patience:
    """How long to go on with a store that cannot be reached, and when to try next."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """`say` receives a message when the trouble begins, and one when it is over."""
        self._say = say
        self._since: float | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._again_at = 0.0

    def holds_off(self, now: float) -> bool:
        """Whether it is too early to try again."""
        return self._since is not None and now < self._again_at

    @contextlib.contextmanager
    def trying(self, now: float, full_disk: Callable[[], bool]) -> Iterator[None]:
        """A use of the store that may fail; raises what is final, or has lasted too long."""
        try:
            yield
        except FINAL:
            raise
        except StoreError as error:
            self._note_failure(error, now, full_disk)
        else:
            if self._since is not None:
                self._say(f"the store is back after {now - self._since:.0f} s")
            self._since, self._pause_s = None, _FIRST_PAUSE_S

    def _note_failure(self, error: StoreError, now: float, full_disk: Callable[[], bool]) -> None:
        if self._since is None:
            self._since = now
            self._say(f"{error} Trying again for {PATIENCE_S / 60:.0f} min; training continues.")
        elif full_disk():
            self._since = now  # somebody has to free space, however long it takes
        elif now - self._since > PATIENCE_S:
            raise StoreError("store.unreachable", minutes=PATIENCE_S / 60, error=error) from error
        self._again_at = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)


def persist(use: Callable[[], Answer], say: Callable[[str], None]) -> Answer:
    """What a use of the store gives, tried again for ten minutes; `say` receives each failure."""
    since, pause_s = time.monotonic(), _FIRST_PAUSE_S
    while True:
        try:
            return use()
        except FINAL:
            raise
        except StoreError as error:
            if time.monotonic() - since > PATIENCE_S:
                raise StoreError("store.gave_up", minutes=PATIENCE_S / 60, error=error) from error
            say(f"{error} Trying again in {pause_s:.1f} s.")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def from_server(store: Store, use: Callable[[], Answer], say: Callable[[str], None]) -> Answer:
    """What a use of the store gives; a server may be restarting, a file that fails is refused."""
    return persist(use, say) if store.path is None else use()
