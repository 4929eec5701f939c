"""Time and processes that a test moves by hand, put under the leases in one place.

`govern` is the only seam: whoever moves the leases, or gives them a clock, changes it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Double, bindparam

from tunewright.store import leases
from tunewright.store.leases import LeaseWatch, Process

HERE = "boot-1 pid:[1]"  # this machine: whether a process is gone can be told
ELSEWHERE = "boot-1 pid:[2]"  # another container: only its beat can be told

SLEEP_S = 10.0  # how long every sleep takes


class World:
    """One true clock, wall clocks that may be hours off, and which processes are alive."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.ahead = 0.0  # the wall clock of whoever acts now
        self.alive: dict[int, str] = {}  # pid -> when that process began
        self.begun = 0
        self.acting = Process("nobody", HERE, 0, "")  # who registers next
        self.while_asleep: Callable[[], None] = lambda: None

    # what the module `time` offers

    def time(self) -> float:
        return self.now + self.ahead

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += SLEEP_S  # oversleeping, to save the test many looks
        self.while_asleep()

    @contextmanager
    def reading(self, ahead: float) -> Iterator[None]:
        """Let somebody act whose wall clock is so many seconds ahead."""
        before, self.ahead = self.ahead, ahead
        try:
            yield
        finally:
            self.ahead = before

    # what the operating system tells

    def new_process(self, near: bool) -> Process:
        """One more process; it may get the pid of one that has ended."""
        pid = next(pid for pid in range(1, len(self.alive) + 2) if pid not in self.alive)
        self.begun += 1
        self.alive[pid] = str(self.begun)
        self.acting = Process("host", HERE if near else ELSEWHERE, pid, self.alive[pid])
        return self.acting

    def start_of(self, pid: int) -> str:
        return self.alive.get(pid, "")


def govern(patch: pytest.MonkeyPatch, world: World) -> None:
    """Let the leases read this clock (PostgreSQL's too) and see these processes."""
    patch.setattr(leases, "time", world)
    # `register` makes a watch of its own, whose clock cannot be handed in
    patch.setattr(leases, "LeaseWatch", lambda lease_s: LeaseWatch(lease_s, world.monotonic))
    server = bindparam("server_time", callable_=world.monotonic, type_=Double())
    patch.setattr(leases, "_SERVER_TIME", server)
    patch.setattr(leases, "this_process", lambda: world.acting)
    patch.setattr(leases, "this_boot", lambda: HERE)
    patch.setattr("socket.gethostname", lambda: "host")
    patch.setattr(leases, "start_of", world.start_of)
    patch.setattr(leases, "_stat", world.start_of)
    patch.setattr(leases, "_exists", lambda pid: pid in world.alive)
