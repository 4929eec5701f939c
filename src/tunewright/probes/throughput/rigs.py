"""Which size is measured in which process?

A separate process costs seconds: Python, torch, the device's context, the first call of every
library. So sizes share one where nothing is at stake, and have one to themselves where it matters:

    the ladder, and the first timing of sizes that surely fit    one process
    the largest size, tried and corrected                        a second one
    what is timed a second time                                  the one that tried the largest
    sizes that take much of the memory                           one each, with no other beside it

Between two sizes a process gives everything back and forgets what it has compiled. One in which
something failed, or stayed behind, is never used again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tunewright.probes.throughput.rig import CannotStep, OpenRig, OutOfMemory, Rig

LEFT = 0.02  # of the device's memory: what a size may leave behind in a process that continues
Found = TypeVar("Found")
Work = Callable[[Rig], Found]


class Rigs:
    """The rigs of one probe: opened when they are needed, shared, and closed in the end."""

    def __init__(self, open_rig: OpenRig, sharing: bool = True, ahead: bool = False) -> None:
        """Without `sharing` every size has its own; `ahead` starts the second with the first."""
        self.out_of_memory = 0  # how often memory has run out
        self._open_rig, self._sharing, self._ahead = open_rig, sharing, ahead
        self._kept: dict[int, Rig] = {}
        self._spare: Rig | None = None

    def use(self, work: Work[Found], turn: int = 0) -> Found:
        """Do some work in the process that measures for the first time (0), or again (1)."""
        if not self._sharing:
            return self.alone(work)
        kept = self._kept.pop(turn, None)
        if kept is None:
            return self._done(work, self._opened(), turn)
        try:
            return self._done(work, kept, turn)
        except (CannotStep, OutOfMemory):
            found = self.alone(work)  # fails again if it was not for the company
            self._sharing = False
            return found

    def trial(self, work: Work[Found]) -> Found:
        """Try a large size in a separate process; a failure there is the size's.

        The process then tries the next one, and later measures what is measured again.
        """
        rig = self._kept.pop(1, None) or self._opened()
        return self._done(work, rig, 1 if self._sharing else None)

    def alone(self, work: Work[Found]) -> Found:
        """Do some work in a separate process, while there is no other."""
        self._close(0)
        self._close(1)
        return self._done(work, self._opened(), None)

    def close(self) -> None:
        """End all processes."""
        self._close(0)
        self._close(1)
        if self._spare is not None:
            self._spare.close()

    def _opened(self) -> Rig:
        spare, self._spare = self._spare, None
        if spare is not None:
            return spare
        rig = self._open_rig()
        if self._ahead:
            self._ahead, self._spare = False, self._open_rig()
        return rig

    def _done(self, work: Work[Found], rig: Rig, turn: int | None) -> Found:
        try:
            found = work(rig)
        except BaseException as error:
            self.out_of_memory += isinstance(error, OutOfMemory)
            rig.close()
            raise
        if turn is None or not _rested(rig):
            rig.close()
        else:
            self._kept[turn] = rig
        return found

    def _close(self, turn: int) -> None:
        kept = self._kept.pop(turn, None)
        if kept is not None:
            kept.close()


def _rested(rig: Rig) -> bool:
    """Whether it has given back what it took."""
    try:
        return rig.rest() <= LEFT
    except (CannotStep, OutOfMemory):  # a training that cannot be ended between its steps
        return False
