"""How many trials a cluster has room for, counted beside the supervisor's own thread.

A cluster that has lost its head answers no question about its nodes, for a minute and longer, while
trials that run may still end and be recorded. So the supervisor never waits for the count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tunewright.errors import TunewrightError

COUNT_S = 2.0  # how often it is counted
SILENT_S = 40.0  # a cluster is given up; Ray itself would end this process after 60 s


class Room:
    """The last count, renewed while it is asked for."""

    def __init__(self, count: Callable[[], int]) -> None:
        """Count for the first time, and wait for that."""
        self._count = count
        self._known = count()
        self._counted = time.monotonic()
        self._asked: float | None = None  # since when a count is under way

    def now(self) -> int:
        """How many fit, as far as is known; raises when the cluster has long been silent."""
        now = time.monotonic()
        if self._asked is None:
            if now - self._counted > COUNT_S:
                self._asked = now
                threading.Thread(target=self._renew, name="tunewright-room", daemon=True).start()
        elif now - self._asked > SILENT_S:
            raise TunewrightError("ray.silent", silent_s=SILENT_S)
        return self._known

    def _renew(self) -> None:
        try:
            self._known = self._count()
        except Exception:  # of Ray, which has lost its connection: nothing is known then
            return
        self._counted = time.monotonic()
        self._asked = None
