"""The beat by which others know that a supervisor or a session is alive: a thread, never the loop.

Training may hold the main thread for hours; its owner's lease must not run out for that.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import threading
from collections.abc import Iterator

from tunewright.errors import OutOfDate, StoreError
from tunewright.execution.retry import from_server
from tunewright.store.leases import LEASE_S, Kind, Worker
from tunewright.store.store import Store

LEASE_VARIABLE = "TUNEWRIGHT_LEASE_S"  # seconds; alike for all processes of a round
_BEATS_PER_LEASE = 6
log = logging.getLogger(__name__)


class Heartbeat:
    """Beats for a worker as long as the `with` block lasts."""

    def __init__(self, store: Store, worker: Worker, every_s: float) -> None:
        """A store that cannot be reached is passed over: the next beat may succeed."""
        self.lost: OutOfDate | None = None  # others took this worker for dead
        self.worker = worker
        self._store = store
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="tunewright-beat", daemon=True)

    def __enter__(self) -> Heartbeat:
        """Begin to beat; the first one is due after `every_s`."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End the thread, and wait for a beat under way."""
        self._over.set()
        self._thread.join()

    def renew(self) -> None:
        """Register anew: what the old worker still holds, known or not, can be reclaimed."""
        old = self.worker
        exclusive = old.kind == "supervisor"
        # never inside a transaction: whoever is watched there before could not beat meanwhile
        fresh = self._store.register(old.round, old.kind, exclusive, lease_s(), replacing=old)
        self.worker = fresh
        self.lost = None

    def _beat(self) -> None:
        while not self._over.wait(self._every_s):
            worker = self.worker
            try:
                self._store.beat(worker)
            except OutOfDate as error:
                if worker is self.worker:  # else it was renewed meanwhile
                    self.lost = error
            except (StoreError, OSError) as error:  # a thread that ended would look like a death
                log.debug("a beat did not reach the store: %s", error)


def lease_s() -> float:
    """How long an owner may be silent before it is taken for dead, in seconds."""
    text = os.environ.get(LEASE_VARIABLE, "")
    if not text:
        return LEASE_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.5 <= seconds < math.inf:
        raise StoreError("lease.bad_seconds", variable=LEASE_VARIABLE, value=text)
    return seconds


@contextlib.contextmanager
def on_duty(store: Store, round_id: int, kind: Kind, exclusive: bool) -> Iterator[Heartbeat]:
    """Be a worker of a round for a block: registered, beating, and off the list afterwards."""
    lease = lease_s()
    worker = from_server(
        store, lambda: store.register(round_id, kind, exclusive, lease), log.warning
    )
    heartbeat = Heartbeat(store, worker, lease / _BEATS_PER_LEASE)
    try:
        with heartbeat:
            yield heartbeat
    finally:
        try:
            store.retire(heartbeat.worker)
        except StoreError as error:
            # this process ends, which shows as much to whoever looks
            log.debug("could not be taken off the list of workers: %s", error)
