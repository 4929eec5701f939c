"""How long do the steps of a program take that only prints where it is? Stamp its step lines.

A program may print every step or every hundredth, and several lines may arrive at once. A window
of so many steps therefore reaches from one stamp to the first that lies far enough on, and its
seconds are those of the steps asked for: the slope between the two.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TOGETHER_S = 0.002  # a line this soon after another came from the same buffer: the last one counts
FEWEST = 3  # windows, however seldom the program prints
ENOUGH_S = 20.0  # with the fewest windows, no longer than this is waited for more
LOOK_S = 0.01


@dataclass(frozen=True)
class Stamp:
    """A step, and when its line arrived."""

    step: int
    at: float


class Silent(Exception):
    """No step line came: the program has ended, or keeps quiet."""


class Stamps:
    """The step lines of one program, stamped as they arrive; listening and reading may overlap."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, look_s: float = LOOK_S
    ) -> None:
        """Nothing has arrived; whoever waits looks every `look_s`."""
        self._clock, self._look_s = clock, look_s
        self._found: list[Stamp] = []
        self._lock = threading.Lock()

    def add(self, step: int) -> None:
        """A step line has arrived; one that does not advance (a second line of a step) is none."""
        with self._lock:
            now = self._clock()
            if self._found and step <= self._found[-1].step:
                return
            if self._found and now - self._found[-1].at < TOGETHER_S:
                self._found.pop()
            self._found.append(Stamp(step, now))

    @property
    def last(self) -> Stamp | None:
        """The newest."""
        with self._lock:
            return self._found[-1] if self._found else None

    def beyond(self, step: int, alive: Callable[[], bool], patience_s: float) -> Stamp:
        """The first stamp at a step or after it, which is waited for as long as there is hope."""
        until = self._clock() + patience_s
        while True:
            going = alive()  # asked first: a last line may come before the end is seen
            with self._lock:
                found = next((stamp for stamp in self._found if stamp.step >= step), None)
            if found is not None:
                return found
            if not going or self._clock() > until:
                raise Silent
            time.sleep(self._look_s)  # being woken by each line would delay the stamp of the next

    def windows(
        self, steps: Sequence[int], alive: Callable[[], bool], patience_s: float
    ) -> list[float]:
        """The seconds of windows of so many steps, from now on.

        Fewer windows than asked for, but three, are enough of a program that prints seldom, and of
        one that ends.
        """
        began = self._clock()
        base = self.last or self.beyond(0, alive, patience_s)
        self._forget_before(base)
        found: list[float] = []
        fewest = min(FEWEST, len(steps))
        for count in steps:
            try:
                end = self.beyond(base.step + count, alive, patience_s)
            except Silent:
                if len(found) >= fewest:
                    break
                raise
            found.append((end.at - base.at) * count / (end.step - base.step))
            base = end
            if len(found) >= fewest and self._clock() - began > ENOUGH_S + sum(found):
                break
        return found

    def _forget_before(self, base: Stamp) -> None:
        with self._lock:
            self._found = [stamp for stamp in self._found if stamp.step >= base.step]
